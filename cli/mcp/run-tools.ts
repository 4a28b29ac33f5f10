/**
 * Tools about runs of jobs: read a plan, start a run of it.
 * Owns their shapes and order of calls; compiling and running are done elsewhere.
 */
import { z } from 'zod';
import { runSchema } from '../../api/runs/run-record.ts';
import { runParams } from '../../api/runs/run-access.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { Finding } from '../../host/finding.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { newRunId } from '../../host/run-id.ts';
import { CliError } from '../../host/cli-error.ts';
import { READS, tool, WORKS, type McpDesk } from './mcp-tool.ts';
import { compileAsked, jobIn, secretsOf } from './tool-job.ts';
import { timeoutIn, waitUntil } from './waiting.ts';

export const runIdIn = runParams.shape.run_id;

/** A prompt is shown as far as this; the whole of it is in the job. */
const PROMPT_CHARS_MAX = 300;
const ITEMS_DEFAULT = 50;
const ITEMS_MAX = 500;

const planItemOut = z.object({
  key: z.string(),
  repository: z.string().nullable(),
  branch: z.string().nullable(),
  model: z.string(),
  agent: z.string().nullable().describe("Null: the deployment's."),
  verify: z.string().nullable().describe('Command that checks the work.'),
  prompt: z.string().describe('Its beginning.'),
});

const findingOut = z.object({
  check: z.string(),
  status: z.enum(['ok', 'warning', 'failed']),
  detail: z.string(),
  remedy: z.string().nullable(),
});

const plan = tool({
  name: 'plan',
  title: 'Look at what a job would do',
  description:
    'Compiles a job and shows the conversations that a run of it would have. Starts nothing; errors come back with line and remedy. Start it with "run".',
  annotations: READS,
  input: z.strictObject({
    ...jobIn,
    items: z.int().min(1).max(ITEMS_MAX).default(ITEMS_DEFAULT).describe('Conversations shown at most.'),
    preflight: z
      .boolean()
      .default(false)
      .describe('Whether to look for what the run needs: models, repositories, secrets, agents.'),
  }),
  output: z.object({
    name: z.string(),
    hash: z.string(),
    total: z.int(),
    concurrency: z.int(),
    conversations: z.array(planItemOut),
    warnings: z.string().describe('Findings of the compiler; empty for none.'),
    preflight: z
      .array(findingOut)
      .nullable()
      .describe('Null when it was not asked for, or cannot be seen from here.'),
  }),
  async run({ input, desk }) {
    const job = await compileAsked(desk, input, false);
    const { name, hash, items, admission } = job.plan;
    return {
      ...{ name, hash, total: items.length, concurrency: admission.concurrency, warnings: job.warnings },
      conversations: items.slice(0, input.items).map(shownItem),
      preflight: input.preflight && desk.isHere ? [...(await findingsOf(desk, job.plan))] : null,
    };
  },
});

function shownItem(item: Plan['items'][number]): z.input<typeof planItemOut> {
  const { key, repository, model, agent, verify, prompt } = item;
  return {
    key,
    repository: repository?.name ?? null,
    branch: repository?.branch ?? null,
    model,
    agent: agent?.name ?? null,
    verify: verify?.command ?? null,
    prompt: prompt.slice(0, PROMPT_CHARS_MAX),
  };
}

async function findingsOf({ shell, config }: McpDesk, compiled: Plan): Promise<readonly Finding[]> {
  const deployment = await openDeployment(shell, { path: config, startsProxy: true });
  return await (await shell.hostPort()).preflight(deployment, compiled);
}

/** Ended as far as it goes by itself: a run that rests has nothing in flight until a user resumes it. */
function isOver({ phase, mode, in_flight: inFlight }: z.output<typeof runSchema>): boolean {
  return phase === 'finished' || ((mode === 'paused' || mode === 'draining') && inFlight === 0);
}

export function runWords({ phase, total, waiting, in_flight: inFlight }: z.output<typeof runSchema>): string {
  return `${phase}: ${total - waiting - inFlight} of ${total} ended, ${inFlight} in flight`;
}

const run = tool({
  name: 'run',
  title: 'Start a run of a job',
  description:
    'Compiles a job and starts a run of it, each conversation in a sandbox. Look how far it is with "status", fetch what it made with "results", end it with "cancel". The same "run_id" and job is the same run.',
  annotations: WORKS,
  input: z.strictObject({
    ...jobIn,
    run_id: runIdIn.nullish().describe('Id of the run; chosen when left out.'),
    preflight: z.boolean().default(true).describe('Whether to look for what the run needs before it begins.'),
    wait: z
      .enum(['none', 'done'])
      .default('none')
      .describe('What to wait for: nothing, or the end of the run.'),
    timeout_seconds: timeoutIn,
  }),
  output: z.object({
    run: runSchema,
    timed_out: z
      .boolean()
      .describe('True when the time was over first; the run goes on, look with "status".'),
  }),
  async run(call) {
    const { input, desk, signal } = call;
    const job = await compileAsked(desk, input, true);
    const secrets = await secretsOf(desk, job);
    call.hide(Object.values(secrets));
    if (input.preflight && desk.isHere) refuseFailed(await findingsOf(desk, job.plan), job.name);
    const { clock, randomHex } = desk.shell;
    const id = input.run_id ?? newRunId(job.plan.name, { now: clock.now(), random: randomHex(4) });
    const body = { plan: job.plan as never, secrets };
    await desk.client.submitRun({ body }, { signal, idempotencyKey: id });
    const { state, timedOut } = await waitUntil(call, {
      timeoutSeconds: input.timeout_seconds,
      look: () => desk.client.getRun({ params: { run_id: id } }, { signal }),
      isOver: (record) => input.wait === 'none' || isOver(record),
      words: (record) => `${id} ${runWords(record)}`,
    });
    return { run: state, timed_out: timedOut };
  },
});

/** @throws CliError when the run cannot succeed */
function refuseFailed(findings: readonly Finding[], name: string): void {
  const failed = findings.filter(({ status }) => status === 'failed');
  if (failed.length === 0) return;
  const lines = failed.map(
    ({ check, detail, remedy }) => `${check}: ${detail}${remedy === null ? '' : ` (${remedy})`}`,
  );
  throw new CliError(`Cannot run "${name}": what it needs is not there\n${lines.join('\n')}`, {
    remedy: 'correct this; nothing was started, and "preflight": false starts without looking',
  });
}

export const RUN_TOOLS = [plan, run];
