/**
 * Whether a file is a job or a scenario, without reading all of it as YAML.
 * Owns reading its `kind`; everything else about the file is for its compiler to find out.
 */
import { readJobFile } from '../../host/job/job-file.ts';

/** At the margin of a block map nothing but a key can stand: block texts are indented. */
const BLOCK_KIND =
  /^(?:"kind"|'kind'|kind)[ \t]*:[ \t]*(?:"scenario"|'scenario'|scenario)[ \t]*(?:#.*)?\r?$/m;
const FLOW_KIND = /[{,]\s*(?:"kind"|'kind'|kind)\s*:\s*(?:"scenario"|'scenario'|scenario)\s*[,}]/;
/** Comments, blank lines and the mark of a document's beginning, then a brace. */
const FLOW_MAP = /^\ufeff?(?:\s|#.*\n|---)*\{/;

/** A file of unclear kind is a job: its compiler says what is wrong. @throws CliError when it cannot be read */
export function isScenarioFile(file: string, cwd: string): boolean {
  if (file.endsWith('.json')) return false;
  return saysScenario(new TextDecoder().decode(readJobFile(file, cwd)));
}

export function saysScenario(text: string): boolean {
  if (!text.includes('scenario')) return false;
  return FLOW_MAP.test(text) ? FLOW_KIND.test(text) : BLOCK_KIND.test(text.replace(/^\ufeff/, ''));
}
