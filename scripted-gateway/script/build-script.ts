// A well-shaped file to a script the server can answer from: names that must be unique or known, prices, turns.
// It must not check shapes (script-schema.ts did) and reads files only through resolve-arguments.ts.

import type { BuildContext, Report } from './build-context.ts';
import { buildTurnScripts } from './build-turns.ts';
import { nanoPerUsd, parseUsd } from '../decimal-usd.ts';
import { priceUsdPerMillionMax } from '../limits.ts';
import { quoteAll } from './problem.ts';
import type { Problem } from './problem.ts';
import type { ScriptFile } from './script-schema.ts';
import type { GatewayScript, ModelPrice, ScriptKey } from './script.ts';
import { defaultPattern, readPattern } from './working-dir.ts';
import type { WorkingDirRule } from './working-dir.ts';

/** Builds everything it can and reports everything it cannot. */
export function buildScript(context: BuildContext): {
  readonly script: GatewayScript;
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const report: Report = (path, message) => {
    problems.push({ file: context.path, ...context.source.valueAt(path), message });
  };
  const { file } = context;
  const models = buildModels(file, report);
  const script: GatewayScript = {
    path: context.path,
    keys: buildKeys(context, report),
    models,
    latencyMs: file.latency_ms ?? 0,
    workingDir: buildWorkingDir(file, report),
    scripts: buildTurnScripts(context, report),
  };
  return { script, problems };
}

function buildModels(file: ScriptFile, report: Report): ReadonlyMap<string, ModelPrice> {
  const names = Object.keys(file.models);
  if (names.length === 0) report(['models'], 'models: expected at least one model');
  const readPrice = (name: string, side: 'input' | 'output'): bigint => {
    const written = String(file.models[name]?.[side]);
    const nanoUsd = parseUsd(written);
    if (nanoUsd !== null && nanoUsd <= priceUsdPerMillionMax * nanoPerUsd) return nanoUsd;
    report(
      ['models', name, side],
      `${side}: found "${written}", expected USD per million tokens as a plain decimal up to ${priceUsdPerMillionMax} with at most 9 digits after the point`,
    );
    return 0n;
  };
  return new Map(
    names.map((name) => [
      name,
      {
        inputNanoUsdPerMillion: readPrice(name, 'input'),
        outputNanoUsdPerMillion: readPrice(name, 'output'),
      },
    ]),
  );
}

function buildWorkingDir(file: ScriptFile, report: Report): WorkingDirRule {
  const { from = 'system', pattern: source = defaultPattern } = file.working_dir ?? {};
  const pattern = readPattern(source);
  if (pattern !== null) return { from, pattern };
  report(
    ['working_dir', 'pattern'],
    'cannot use pattern: expected a regular expression with one group, which is the directory',
  );
  return { from, pattern: /()/ };
}

function buildKeys(context: BuildContext, report: Report): readonly ScriptKey[] {
  const { keys, models } = context.file;
  const known = Object.keys(models);
  reportRepeats(keys, 'key', report);
  reportRepeats(keys, 'name', report);
  return keys.map((key, index) => {
    for (const [at, model] of (key.models ?? []).entries()) {
      if (known.includes(model)) continue;
      report(['keys', index, 'models', at], `unknown model "${model}": expected one of ${quoteAll(known)}`);
    }
    return {
      key: key.key,
      name: key.name,
      models: key.models ?? null,
      tags: key.tags ?? [],
      admin: key.admin ?? false,
      at: context.source.valueAt(['keys', index, 'key']),
    };
  });
}

function reportRepeats(keys: ScriptFile['keys'], field: 'key' | 'name', report: Report): void {
  const seen = new Map<string, number>();
  for (const [index, key] of keys.entries()) {
    const first = seen.get(key[field]);
    if (first === undefined) seen.set(key[field], index);
    else
      report(['keys', index, field], `${field} of keys[${index}] is already the ${field} of keys[${first}]`);
  }
}
