/**
 * Clients that two generators make of the OpenAPI document, as `parley serve` sends it: compiled, and each used from a
 * start to the download of a zip.
 */
import { execFile } from 'node:child_process';
import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { javaGenerator, typescriptGenerator } from '../../scripts/client-generators.js';
import { serveFirst, type FirstServed } from '../api/first-service.ts';
import { ROOT } from '../cli/parley-program.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const ALL_MS_MAX = 400_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

/** What it printed, by lines; a program that fails says why. */
async function run(
  cwd: string,
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: OUTPUT_BYTES_MAX };
  const { stdout } = await promisify(execFile)(program, args, options).catch((error: unknown) => {
    const { stdout: said, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${program} failed: ${stderr}\n${said}`);
  });
  return stdout.trim().split('\n');
}

async function withDocument({ url }: FirstServed): Promise<string> {
  const folder = tempDir();
  writeFileSync(path.join(folder, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text());
  return folder;
}

const own = (name: string): string => path.join(import.meta.dirname, name);

describeWith('client-generators', 'a generated client', () => {
  it(
    'of openapi-typescript is compiled strictly, and walks from a start to a zip',
    async () => {
      const served = await serveFirst();
      const folder = await withDocument(served);
      const { program, modules } = typescriptGenerator(process.env);
      const generated = ['openapi.json', '--output', 'schema.d.ts', '--default-non-nullable', 'false'];
      await run(folder, [process.execPath, program, ...generated]);
      symlinkSync(modules, path.join(folder, 'node_modules'));
      cpSync(own('GeneratedClient.mts'), path.join(folder, 'client.mts'));
      const types = path.join(ROOT, 'node_modules', '@types');
      await run(folder, [
        ...[process.execPath, path.join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), 'client.mts'],
        ...['--strict', '--target', 'es2023', '--module', 'nodenext', '--skipLibCheck', '--noUnusedLocals'],
        ...['--types', 'node', '--typeRoots', types],
      ]);
      const lines = await run(folder, [process.execPath, 'client.mjs', served.url, served.key ?? '']);
      expect(lines).toEqual([
        'sandbox RUNNING blue',
        'action terminal',
        'zip PK',
        'page 1 RUNNING',
        'refused 404 not_found',
      ]);
    },
    ALL_MS_MAX,
  );

  it(
    'of openapi-generator is compiled as Go, and walks from a start to a zip',
    async () => {
      const served = await serveFirst();
      const folder = await withDocument(served);
      const { jar, goModule } = javaGenerator(process.env);
      await run(folder, [
        ...['java', '-jar', jar, 'generate', '-i', 'openapi.json', '-g', 'go', '-o', 'client'],
        '--additional-properties=packageName=client,withGoMod=false,enumClassPrefix=true',
        '--global-property=apiTests=false,modelTests=false,apiDocs=false,modelDocs=false',
      ]);
      cpSync(goModule, folder, { recursive: true });
      cpSync(own('GeneratedClient.go'), path.join(folder, 'main.go'));
      // Nothing is fetched here: what it needs was installed with it.
      await run(folder, ['go', 'build', '-o', 'program', '.'], { GOPROXY: 'off' });
      const lines = await run(folder, [path.join(folder, 'program'), served.url, served.key ?? '']);
      expect(lines).toEqual([
        'sandbox RUNNING blue',
        'action terminal',
        'zip meta.json true',
        'page 1 RUNNING',
        'refused 404 true',
      ]);
    },
    ALL_MS_MAX,
  );
});
