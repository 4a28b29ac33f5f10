/** The block `store`: values, the URL by reference, and that no part of it is ever shown. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { explainDeployment } from '../../host/config/explain-deployment.ts';
import { loadDeployment } from '../../host/config/load-deployment.ts';
import { printProblem } from '../../host/config/problem.ts';
import { parsePostgresUrl } from '../../store/sql/postgres-address.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const PASSWORD = 'planted-password';
const URL_TEXT = `postgresql://ada:${PASSWORD}@db.example.com:6543/parley`;

async function load(text: string, env: Record<string, string> = {}) {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'parley.yaml'), text);
  writeFileSync(path.join(cwd, 'ca.pem'), 'the text of ca.pem');
  return await loadDeployment({ path: null, cwd, env });
}

describe('the block store', () => {
  it('is SQLite by default, whatever a variable holds', async () => {
    const { config } = await load('', { PARLEY_DATABASE_URL: URL_TEXT });
    expect(config?.store).toEqual({ kind: 'sqlite' });
  });

  it('takes every value of the file', async () => {
    const text =
      'store: { kind: postgres, url: os.environ/DB, pool: 3, statement_timeout: 5, tls: { ca: ca.pem, server_name: db } }\n';
    const { config } = await load(text, { DB: URL_TEXT });
    expect(config?.store).toEqual({
      kind: 'postgres',
      server: {
        address: {
          ...{ host: 'db.example.com', port: 6_543, user: 'ada', password: PASSWORD, database: 'parley' },
          wantsTls: false,
        },
        ...{ poolMax: 3, statementTimeoutMs: 5_000, schema: null },
        tls: { ca: 'the text of ca.pem', client: null, serverName: 'db' },
      },
    });
  });

  it('takes kind and URL from variables alone', async () => {
    const { config } = await load('', { PARLEY_STORE: 'postgres', PARLEY_DATABASE_URL: URL_TEXT });
    expect(config?.store).toMatchObject({
      kind: 'postgres',
      server: { poolMax: 10, statementTimeoutMs: 30_000 },
    });
  });

  it.each([
    ['no variable', {}, /environment variable "DB" is not set/],
    [
      'another protocol',
      { DB: `mysql://ada:${PASSWORD}@h/d` },
      /begins with neither postgresql: nor postgres:/,
    ],
    ['no URL', { DB: PASSWORD }, /it cannot be read \(environment variable "DB"\)/],
    ['no database', { DB: `postgres://ada:${PASSWORD}@h` }, /it names no database/],
    ['a weak sslmode', { DB: `${URL_TEXT}?sslmode=prefer` }, /sslmode is not "disable" or one of/],
    [
      'an unknown parameter',
      { DB: `${URL_TEXT}?sslpassword=${PASSWORD}` },
      /its parameter "sslpassword" is not known/,
    ],
  ] as const)('says what is wrong with %s, at its place and without the URL', async (_name, env, message) => {
    const loaded = await load('store: { kind: postgres, url: os.environ/DB }\n', env);
    const said = loaded.problems.map((problem) => printProblem(problem)).join('');
    expect([loaded.config, said]).toEqual([null, expect.stringMatching(message)]);
    expect(said).toMatch(/parley\.yaml:1/);
    expect(said).not.toContain(PASSWORD);
  });

  it('takes no URL in the file itself, and shows none', async () => {
    const env = { PARLEY_STORE: 'postgres', PARLEY_DATABASE_URL: URL_TEXT };
    const written = await load(`store: { kind: postgres, url: '${URL_TEXT}' }\n`, env);
    expect(written.config).toBeNull();
    const shown = [written, await load('', env)].map((loaded) =>
      JSON.stringify([loaded.problems, explainDeployment(loaded, env)]),
    );
    expect(shown.join('')).not.toContain(PASSWORD);
    expect(shown[1]).toContain('"PARLEY_DATABASE_URL","value":"set"');
  });

  it('reads every way of writing a URL', () => {
    const base = {
      host: 'localhost',
      port: 5_432,
      user: 'u',
      password: null,
      database: 'd',
      wantsTls: false,
    };
    expect(parsePostgresUrl('postgres://u@localhost/d')).toEqual(base);
    expect(parsePostgresUrl('postgresql://u@/d?host=/var/run/postgresql')).toEqual({
      ...base,
      host: '/var/run/postgresql',
    });
    expect(parsePostgresUrl('postgres://u%40x:p%2Fw@[::1]:99/d?sslmode=verify-full')).toEqual({
      ...base,
      ...{ host: '::1', port: 99, user: 'u@x', password: 'p/w', wantsTls: true },
    });
  });
});
