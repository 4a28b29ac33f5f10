/** Breaks the laws about what users can type, set and meet: error codes, flags, routes, variables, the session cap. */
import { describe, expect, it } from 'vitest';
import { cliDocumented, environmentDocumented, routesDocumented } from './laws/documented.ts';
import { errorCodes } from './laws/error-codes.ts';
import { sessionCap } from './laws/session-cap.ts';
import { madeUp } from './tree.ts';

describe('errorCodes()', () => {
  const base = {
    'core/error-catalogue.ts': `export const ERROR_CATALOGUE = {\n  lost: { status: 404, retry: false, when: 'x' },\n};`,
    'docs/errors.md': '# Errors\n\n| code | status | retry |\n| - | - | - |\n| `lost` | 404 | no |\n',
    'api/a.ts': `fail('lost');`,
    'test/api/a.test.ts': `expect(code).toBe('lost');`,
  };
  const check = (files: Record<string, string>) => errorCodes(madeUp({ ...base, ...files }));

  it('accepts a code that is documented, used and tested', () => {
    expect(check({})).toEqual([]);
  });

  it('refuses a code without a row, and a row without a code', () => {
    const page = '# Errors\n\n| code | status | retry |\n| - | - | - |\n| `found` | 200 | no |\n';
    expect(check({ 'docs/errors.md': page })).toEqual([
      'docs/errors.md:5: "found" is not in core/error-catalogue.ts',
      'core/error-catalogue.ts:2: "lost" has no row in docs/errors.md',
    ]);
  });

  it('refuses a row that says something else', () => {
    const page = '# Errors\n\n| code | status | retry |\n| - | - | - |\n| `lost` | 410 | yes |\n';
    expect(check({ 'docs/errors.md': page })).toEqual([
      'docs/errors.md:5: "lost" is 404, retry no in core/error-catalogue.ts, and not 410, retry yes',
    ]);
  });

  it('refuses a code that no product file or no test names', () => {
    expect(check({ 'api/a.ts': '', 'test/api/a.test.ts': '' })).toEqual([
      'core/error-catalogue.ts:2: "lost" is never used; report it or remove it',
      'core/error-catalogue.ts:2: "lost" is reached by no test',
    ]);
  });
});

describe('documented', () => {
  it('refuses a command and a flag that docs/cli.md does not name', () => {
    const tree = madeUp({
      'docs/cli.md': '# CLI\n\n`parley run FILE --json --jobs N`\n',
      'cli/commands/run.ts': `program.command('run <file>')\n.option('--json', 'x')\n.option('-j, --job <n>', 'x');`,
      'cli/commands/stop.ts': `program.command('stop');`,
    });
    expect(cliDocumented(tree)).toEqual([
      'cli/commands/run.ts:3: flag "--job" is not in docs/cli.md',
      'cli/commands/stop.ts:1: command "stop" is not in docs/cli.md',
    ]);
  });

  it('refuses a route that no page names, in each way to register one', () => {
    const tree = madeUp({
      'docs/api.md': '# API\n\n`GET /v1/models` and `GET /v1/things/{thing_id}`\n',
      'proxy/a.ts': `app.get('/v1/models', f);\napp.get('/v1/things/:id', f);\napp.post('/model/new', f);`,
      'api/b.ts': `app.route({ method: 'GET', url: '/v1/other', handler });\nmap.get('/v1/key');`,
      'agent/c.ts': `route('GET', '/api/alive', f);`,
      'agent/d.ts': `for (const path of ['/alive', '/v1/models']) app.get(path, f);`,
    });
    expect(routesDocumented(tree)).toEqual([
      'proxy/a.ts:3: route "/model/new" is in no page of docs/',
      'api/b.ts:1: route "/v1/other" is in no page of docs/',
      'agent/c.ts:1: route "/api/alive" is in no page of docs/',
      'agent/d.ts:1: route "/alive" is in no page of docs/',
    ]);
  });

  it('refuses a variable that no page names, once', () => {
    const tree = madeUp({
      'docs/configuration.md': '# Configuration\n\n`PARLEY_MODEL_NAME`\n',
      'cli/a.ts': `env.PARLEY_MODEL; env.PARLEY_MODEL_NAME; 'PARLEY_';`,
      'agent/a.ts': `env.PARLEY_MODEL; env.OH_KEY;`,
      'test/a.ts': 'env.PARLEY_ONLY_IN_TESTS',
    });
    expect(environmentDocumented(tree)).toEqual([
      'cli/a.ts:1: environment variable "PARLEY_MODEL" is in no page; name it in docs/configuration.md',
      'agent/a.ts:1: environment variable "OH_KEY" is in no page; name it in docs/configuration.md',
    ]);
  });
});

describe('sessionCap()', () => {
  const limits = { 'core/limits.ts': 'export const MAX_SESSION_MS = 12 * HOUR_MS;' };
  const check = (files: Record<string, string>) => sessionCap(madeUp({ ...limits, ...files }));
  const setting = (name: string) =>
    `"${name}" looks like a setting for the cap of a session, which has none (D10)`;

  it('accepts the words that speak of the cap without setting it', () => {
    const text = `const job = { on_session_limit: z.enum(['resume', 'stop']) }; const why = 'session_limit';`;
    expect(check({ 'dsl/a.ts': `${text} hint('The session limit is 12 hours and fixed');` })).toEqual([]);
  });

  it('refuses another definition, or none', () => {
    expect(check({ 'core/limits.ts': 'export const MAX_SESSION_MS = config.maxSession;' })).toEqual([
      'core/limits.ts: must hold `export const MAX_SESSION_MS = 12 * HOUR_MS;`, and no other file; found in: none',
    ]);
    expect(check({ 'core/more.ts': 'export const MAX_SESSION_MS = 12 * HOUR_MS;' })).toEqual([
      'core/limits.ts: must hold `export const MAX_SESSION_MS = 12 * HOUR_MS;`, and no other file; found in: core/limits.ts, core/more.ts',
    ]);
  });

  it('refuses the constant and its value outside core/', () => {
    expect(
      check({
        'engine/a.ts': `import { MAX_SESSION_MS } from '../core/limits.ts';\nconst cap = 43_200_000;`,
      }),
    ).toEqual([
      'engine/a.ts:1: "MAX_SESSION_MS"; only core/ knows the cap of a session (D10)',
      'engine/a.ts:2: "43_200_000"; only core/ knows the cap of a session (D10)',
    ]);
  });

  it.each([
    ['cli/a.ts', `program.option('--max-session <hours>', 'x');`, '--max-session <hours>'],
    ['cli/a.ts', 'env.X ?? "PARLEY_SESSION_HOURS";', 'PARLEY_SESSION_HOURS'],
    ['dsl/a.ts', 'const schema = z.object({ max_session: z.number() });', 'max_session'],
    ['api/a.ts', 'interface Config { readonly sessionLimitMs: number }', 'sessionLimitMs'],
    ['schema/job.json', '{ "sessionDuration": { "type": "string" } }', 'sessionDuration'],
    ['examples/a/job.yaml', 'session_length: 3h', 'session_length'],
  ])('refuses in %s: %s', (path, text, name) => {
    expect(check({ [path]: text })).toEqual([`${path}:1: ${setting(name)}`]);
  });
});
