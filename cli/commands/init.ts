/**
 * `parley init`: a first job and a deployment in a folder, ready for an editor and for `parley run`.
 * Owns what is written where; a file that exists is never changed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { editorSchema } from '../../dsl/reference/editor-schema.ts';
import { ensurePrivateDirectory } from '../../store/private-files.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { deploymentJsonSchema } from '../../host/config/schema/deployment-json-schema.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import {
  DATA_FOLDER,
  DEPLOYMENT_SCHEMA_FILE,
  DEPLOYMENT_TEXT,
  JOB_SCHEMA_FILE,
  JOB_TEXT,
  SCHEMA_FOLDER,
} from '../init-files.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import type { Shell } from '../../host/shell.ts';

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('init')
    .description('Write a first job.yaml and parley.yaml; files that exist are kept.')
    .argument('[folder]', 'where to write (default: the working folder)')
    .says('Exit codes: 0 written, 2 the folder cannot be written.')
    .examples('parley init', 'parley init my-batch && cd my-batch && parley validate job.yaml')
    .action(ends((folder: string | undefined) => init(shell, folder ?? '.')));
}

function init(shell: Shell, folder: string): ExitCode {
  const root = path.resolve(shell.cwd, folder);
  try {
    mkdirSync(root, { recursive: true });
    ensurePrivateDirectory(path.join(root, DATA_FOLDER));
    mkdirSync(path.join(root, SCHEMA_FOLDER), { recursive: true });
    // Generated, so the newest counts.
    writeSchema(root, JOB_SCHEMA_FILE, editorSchema());
    writeSchema(root, DEPLOYMENT_SCHEMA_FILE, deploymentJsonSchema());
    // The data of this machine does not belong in the repository.
    writeNew(path.join(root, DATA_FOLDER, '.gitignore'), '*\n');
    for (const [name, text] of [
      ['job.yaml', JOB_TEXT],
      ['parley.yaml', DEPLOYMENT_TEXT],
    ] as const) {
      const file = path.join(folder, name);
      const isNew = writeNew(path.join(root, name), text);
      shell.stdout.write(isNew ? `${file}: written\n` : `${file}: kept, it exists\n`);
    }
  } catch (error) {
    throw new CliError(`Cannot write to "${folder}": ${reasonOf(error)}`, {
      remedy: 'check owner and permissions of the folder, or name another one',
    });
  }
  shell.stderr.write(
    'next: parley validate job.yaml, then parley doctor job.yaml; commit schema/ with the files\n',
  );
  return EXIT.ok;
}

function writeSchema(root: string, name: string, schema: Readonly<Record<string, unknown>>): void {
  writeFileSync(path.join(root, SCHEMA_FOLDER, name), `${JSON.stringify(schema, null, 2)}\n`);
}

/** False when the file exists. Checking and writing are one step, so two at once do not overwrite each other. */
function writeNew(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
