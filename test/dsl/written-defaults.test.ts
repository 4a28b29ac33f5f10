/**
 * A default that is written out makes the same plan, byte for byte, as one that is left out: for every key.
 * A key of the schema that is in none of the lists below fails, so that a new one has to say what it is.
 */
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';

import { compileJob } from '../../dsl/compile-job.ts';
import { writtenDefaults } from '../../dsl/reference/defaults.ts';
import { rowsBelow } from '../../dsl/reference/schema-rows.ts';
import { jobSchema } from '../../dsl/schema/json-schema.ts';
import type { JobWorld } from '../../dsl/world.ts';
import { testWorld } from './test-world.ts';

/** Each part once, in long form, with no key that is not required. */
const JOB = `kind: job
version: 1
name: whole
secrets: {hook: {from: env, name: HOOK}}
inputs: {lib: {type: string, default: pad}}
placement: {pool: {size: 1, recycle: {after: 5}}}
admission: {adaptive: {}}
budget: {usd: 9}
retry: [{on: [infra], attempts: 1}]
breaker: {on: [infra], window: 5m, count: 2, recover: {after: 1m}}
wait: {}
deliver: {branch: 'p/{key}', pull_request: {}}
cleanup: {}
schedule: {cron: ['0 3 * * *']}
reconcile: {rows: gateway}
finally: [{notify: {to: {secret: hook}}}]
conversations:
  - id: a
    prompt: Do it.
    model: m
    repo: {name: acme/shop}
    setup: {command: npm ci}
    verify: {command: npm test}
    scores: [{name: lines, command: wc -l < made}]
    limits: {usd: 2}
    plugins: [{source: acme/tools}]
  - id: b
    prompt: Then that.
    model: m
    repo: {name: acme/shop}
    needs: [{entry: a}]
    retry: [{on: [infra], attempts: 1}]
    wait: {}
    collect: [trajectory, diff]
  - id: c
    prompt: Then \${{ item.value }}.
    model: m
    repo: {name: acme/shop}
    key: c
    items: {list: [{value: x}]}
${['github', 'gitlab', 'gitea']
  .map(
    (kind) => `  - id: ${kind}
    prompt: Fix \${{ item.title }}.
    model: m
    repo: {name: acme/shop}
    key: ${kind}
    items: {${kind}: {repository: acme/shop}}
`,
  )
  .join('')}`;

/** A question is a part of the plan that its answer makes. */
const world: JobWorld = {
  ...testWorld,
  readIssues: () => ({
    doneCount: 0,
    rows: [
      { number: 7, title: 'It', body: '', comments: '', url: '', author: 'amy', state: 'open', labels: [] },
    ],
  }),
};
const issueDefaults = (kind: string, at: number): Readonly<Record<string, unknown>> => ({
  [`conversations[${at}].items.${kind}.state`]: 'open',
  [`conversations[${at}].items.${kind}.limit`]: 100,
  [`conversations[${at}].items.${kind}.host`]: kind,
});

/** As docs/job-language.md says them. A key at which the reference has one is not in this list. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  inputs: { lib: { type: 'string', default: 'pad' } },
  labels: {},
  'conversations[].prompt': 'Do it.',
  'conversations[].tags': {},
  'conversations[].secrets[]': [],
  'conversations[].setup.timeout': '10m',
  'conversations[].scores[].timeout': '10m',
  'conversations[].plugins[]': [{ source: 'acme/tools' }],
  'conversations[].confirmation': 'never',
  'conversations[].repo.submodules': false,
  'conversations[].repo.lfs': false,
  'conversations[].key': 'a',
  'conversations[].repeat': 1,
  'conversations[].outcome': 'all',
  'conversations[].exclude[]': [],
  'conversations[].include[]': [],
  'conversations[].extend[]': [],
  'conversations[1].needs[].outcome': 'succeeded',
  'conversations[1].needs[].each': false,
  'conversations[2].items.allow_empty': false,
  'conversations[].retry[]': [{ on: ['infra'], attempts: 1 }],
  'conversations[1].retry[].backoff': { initial: '30s', factor: 2, max: '10m' },
  'conversations[1].retry[].backoff.initial': '30s',
  'conversations[1].retry[].backoff.factor': 2,
  'conversations[1].retry[].backoff.max': '10m',
  'conversations[].wait': {},
  'conversations[].wait.until[]': ['FINISHED', 'ERROR', 'STUCK', 'WAITING_FOR_CONFIRMATION'],
  'conversations[].wait.deadline': '11h30m',
  'conversations[].wait.no_progress': '30m',
  'conversations[].wait.on_session_limit': 'resume',
  'conversations[].collect[]': ['trajectory', 'diff'],
  'admission.per': {},
  'admission.adaptive.on[]': ['rate_limited'],
  'admission.adaptive.min': 1,
  'admission.order': 'priority',
  'budget.reserve': '2',
  'budget.on_exceeded': 'pause',
  'retry[].backoff': { initial: '30s', factor: 2, max: '10m' },
  'retry[].backoff.initial': '30s',
  'retry[].backoff.factor': 2,
  'retry[].backoff.max': '10m',
  'breaker.recover.probes': 1,
  'deliver.message': '{job}: {key}',
  'deliver.when': 'succeeded',
  'deliver.pull_request.title': '{title}',
  'deliver.pull_request.draft': false,
  'deliver.pull_request.labels[]': [],
  'deliver.pull_request.reviewers[]': [],
  ...issueDefaults('github', 3),
  ...issueDefaults('gitlab', 4),
  ...issueDefaults('gitea', 5),
  'schedule.timezone': 'UTC',
  'schedule.overlap': 'skip',
  'schedule.paused': false,
  'reconcile.window': { before: '30s', after: '5m' },
  tolerate: { failed: 0 },
  'finally[].notify.text': '{job} {run}: {status}, {succeeded} of {total} succeeded, {usd} USD',
  'finally[].notify.when': 'always',
  'finally[].notify.timeout': '2m',
};

/** Without a value that could be written: nothing, or what the deployment, the host or the file decides. */
const NONE: readonly string[] = [
  'kind',
  'version',
  'name',
  'description',
  'extends',
  'append.defaults.secrets[]',
  'append.defaults.plugins[]',
  'append.conversations[]',
  'append.retry[]',
  'append.collect[]',
  'append.report[]',
  'append.finally[]',
  'inputs.NAME.default',
  'inputs.NAME.description',
  'inputs.NAME.min',
  'inputs.NAME.max',
  'conversations[]',
  'conversations[].prompt.vars',
  'conversations[].repo.branch',
  'conversations[].repo.host',
  'conversations[].repo.ref',
  'conversations[].repo.token',
  'conversations[].repo.author',
  'conversations[].branch',
  'conversations[].model',
  'conversations[].setup.cache[]',
  'conversations[].agent.command[]',
  'conversations[].agent.environment',
  'conversations[].agent.mode',
  'conversations[].agent.version',
  'conversations[].items.from',
  'conversations[].scores[]',
  'conversations[].scores[].at_least',
  'conversations[].scores[].at_most',
  'conversations[].limits.working',
  'conversations[].limits.turns',
  'conversations[].limits.usd',
  'conversations[].plugins[].ref',
  'conversations[].plugins[].path',
  'conversations[].needs[]',
  'conversations[].items',
  'conversations[].items.csv',
  'conversations[].items.jsonl',
  'conversations[].items.list[]',
  'conversations[].items.glob[]',
  'conversations[].items.where',
  ...['github', 'gitlab', 'gitea'].flatMap((kind) => [
    `conversations[].items.${kind}.label[]`,
    `conversations[].items.${kind}.token`,
  ]),
  'deliver.pull_request.body',
  'deliver.pull_request.base',
  'deliver.pull_request.comment',
  'deliver.pull_request.token',
  'conversations[].items.limit',
  'conversations[].matrix',
  'conversations[].extend[].match',
  'conversations[].extend[].when',
  'placement.strategy',
  'placement.sandbox',
  'placement.host',
  'placement.labels',
  'placement.pool.affinity',
  'placement.pool.recycle.after',
  'placement.pool.recycle.max_age',
  'admission.rate',
  'admission.ramp',
  'admission.canary',
  'admission.seed',
  'budget.soft',
  'breaker.recover',
  'reconcile.expect',
  'reconcile.expect.unbilled',
  'reconcile.expect.unmatched_usd',
  'schedule.catchup',
  'schedule.jitter',
  'finally[].notify.key',
];

const hashOf = (text: string): string => {
  const { plan, diagnostics } = compileJob({ path: 'job.yaml', text }, world);
  if (plan === null) throw new Error(diagnostics.map(({ message }) => message).join('; '));
  return plan.hash;
};

/** `conversations[].tags` is in the first conversation, `conversations[1].needs[].each` in the second. */
function pathOf(key: string): (string | number)[] {
  return key
    .replace(/\[\]$/, '')
    .split('.')
    .flatMap((part) => {
      const [name = '', at] = part.split('[');
      return at === undefined ? [name] : [name, Number.parseInt(at, 10) || 0];
    });
}

function written(key: string, value: unknown): string {
  const document = parseDocument(JOB);
  document.setIn(pathOf(key), document.createNode(value));
  return document.toString();
}

/** Lists that the reference writes as such, though the schema calls them lists of what is in them. */
const told = new Map(writtenDefaults());
for (const key of ['retry', 'breaker', 'budget.reserve']) told.delete(key);

describe('a default that is written out', () => {
  it.each([...Object.entries(DEFAULTS), ...told])('makes the plan of %s left out', (key, value) => {
    expect(hashOf(written(key, value))).toBe(hashOf(JOB));
  });

  it('is the whole of what the job does not say: parts that are absent are those with their defaults', () => {
    const least = `kind: job\nversion: 1\nname: x\nconversations: [{id: a, prompt: Do it., model: m}]\n`;
    const whole = `${least}${[...writtenDefaults()]
      .filter(([key]) => ['retry', 'breaker', 'collect', 'report'].includes(key))
      .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
      .join('')}`;
    expect(whole).toContain('breaker');
    const parts = ['inputs', 'labels', 'secrets', 'placement', 'admission', 'wait', 'cleanup'];
    expect(hashOf(`${whole}${parts.map((part) => `${part}: {}\n`).join('')}`)).toBe(hashOf(least));
  });

  it('counts for every conversation that inherits it, and where it lifts what others inherit', () => {
    const job = (defaults: string, own: string): string =>
      `kind: job\nversion: 1\nname: x\ndefaults: {model: m${defaults}}\nconversations: [{id: a, prompt: Do it.${own}}]\n`;
    const least = hashOf(job('', ''));
    expect(hashOf(job(', confirmation: never, priority: 0, plugins: []', ''))).toBe(least);
    expect(hashOf(job(', confirmation: always', ', confirmation: never'))).toBe(least);
    expect(hashOf(job(', confirmation: always', ''))).not.toBe(least);
    expect(hashOf(job('', ', repeat: 1'))).toBe(least);
    expect(hashOf(job('', ', repeat: 2'))).not.toBe(least);
    const copies = hashOf(job('', ', repeat: 2'));
    expect(hashOf(job('', ', repeat: 2, outcome: all'))).toBe(copies);
    expect(hashOf(job('', ', repeat: 2, outcome: any'))).not.toBe(copies);
  });

  it('is known for every key that need not be written', () => {
    const keys = rowsBelow(jobSchema(), '').filter(
      ({ path, isRequired }) => !isRequired && !/^defaults|\.set\.|^secrets/.test(path),
    );
    const isPart = (path: string): boolean => keys.some((key) => key.path.startsWith(`${path}.`));
    const known = new Set(
      [...Object.keys(DEFAULTS), ...NONE, ...writtenDefaults().keys()].map((key) =>
        key.replace(/\[\d\]/g, '[]').replace(/\[\]$/, ''),
      ),
    );
    const unknown = keys
      .map(({ path }) => path)
      .filter((path) => !known.has(path.replace(/\[\]$/, '')) && !isPart(path));
    expect(unknown).toEqual([]);
  });
});
