/**
 * YAML text to scenario and findings: the passes in their order, and nothing else.
 * Pure: the job and the names of faults come from the world beside the file. Broken input is data, never an exception.
 */
import type { Plan } from '../../core/plan/plan.ts';
import { didYouMean } from '../check/nearest-name.ts';
import { compileAmendable, type AmendableCompilation } from '../compile-job.ts';
import type { JobSource } from '../read/decode-source.ts';
import type { Diagnostic } from '../check/diagnostic.ts';
import { defined } from '../defined.ts';
import { quote } from '../read/quote.ts';
import { checkSchema, readDocument } from '../read/read-document.ts';
import type { Report } from '../check/report.ts';
import type { JobDocument } from '../schema/job-schema.ts';
import { LOCAL_PATH } from '../schema/text-rule.ts';
import { childOf, textOf, type Tree, entriesOf, entryOf, treeAt } from '../read/tree.ts';
import { FILE_PROBLEM_WORDS } from '../world.ts';
import { buildScenario } from './build-scenario.ts';
import { checkArrivals, checkItemArrivals } from './check-arrivals.ts';
import { checkChoices } from './check-choices.ts';
import { checkFigures } from './check-figures.ts';
import { checkConditionKeys, compileConditions, addUnknownKey } from './conditions.ts';
import { lintScenario } from './lint-scenario.ts';
import type { OverridesDocument } from './overrides-schema.ts';
import { listAt, targetKeys, type PlannedCheck, type ScenarioCheck } from './scenario-check.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIO_LANGUAGE } from './scenario-language.ts';
import { scenarioSchema } from './scenario-schema.ts';
import type { ScenarioJob, ScenarioWorld } from './scenario-world.ts';

/** What came of compiling a scenario. */
export interface ScenarioCompilation {
  /** Null when there is an error, in the scenario or in its job; warnings leave it. */
  readonly scenario: Scenario | null;
  /** Those of the scenario, then those of the job; each names its file and is sorted by position in it. */
  readonly diagnostics: readonly Diagnostic[];
  /** The job file that was read, for excerpts under its findings; null when there was none. */
  readonly job: JobSource | null;
}

/** Compiles a scenario file and the job it names. Never throws for anything the two hold. */
export function compileScenario(source: JobSource, world: ScenarioWorld): ScenarioCompilation {
  const { report, root } = readDocument(source, SCENARIO_LANGUAGE);
  if (root === null) return { scenario: null, diagnostics: report.diagnostics(), job: null };
  const document = checkSchema(root, scenarioSchema, report);
  const check = { root, report };
  checkChoices(check);
  checkFigures(check);
  checkArrivals(check);
  checkFaults(check, world.faults);
  checkHosts(check);
  const conditions = compileConditions(check);
  const job = readJob(root, report, world);
  const compiled = job === null ? null : compileAmendable(job.source, job.world);
  for (const { repository, host } of compiled?.openIssues ?? [])
    report.add(
      'JOB326',
      childOf(root, 'job')?.span ?? root.span,
      `no scenario reads the issues of ${quote(repository)} at ${host}`,
      { remedy: 'play a job that has such rows under "items.list"; "parley simulate JOB" reads issues' },
    );
  if (compiled !== null && compiled.plan !== null) {
    const planned = { ...check, plan: compiled.plan };
    checkTargets(planned);
    checkItemArrivals(planned);
    checkOverrides(planned);
    checkConditionKeys(conditions, compiled.plan, report);
  }
  const plan = document === null || report.hasErrors() ? null : planFor(compiled, document.overrides);
  let scenario: Scenario | null = null;
  if (document !== null && plan !== null) {
    scenario = buildScenario({ document, root, report, plan, conditions });
    lintScenario({ scenario, root, report });
  }
  return {
    scenario: report.hasErrors() ? null : scenario,
    diagnostics: [...report.diagnostics(), ...(compiled?.diagnostics ?? [])],
    job: job?.source ?? null,
  };
}

function planFor(
  compiled: AmendableCompilation | null,
  overrides: OverridesDocument | undefined,
): Plan | null {
  if (compiled === null || overrides === undefined) return compiled?.plan ?? null;
  return compiled.amended((job) => amendJob(job, overrides));
}

/** Null when there is no job to compile; that was said. */
function readJob(root: Tree, report: Report, world: ScenarioWorld): ScenarioJob | null {
  const tree = childOf(root, 'job');
  const path = textOf(tree);
  if (tree === undefined || path === null || !LOCAL_PATH.pattern.test(path)) return null;
  const read = world.readJob(path);
  if (!('problem' in read)) return read;
  const code = read.problem === 'missing' ? 'JOB303' : 'JOB305';
  report.add(code, tree.span, `the job file ${quote(path)} ${FILE_PROBLEM_WORDS[read.problem]}`, {
    remedy: 'the path is relative to the scenario file',
  });
  return null;
}

/** `budget.usd` is there: the check of overrides has seen to it. */
function amendJob(job: JobDocument, overrides: OverridesDocument): JobDocument {
  const { defaults, conversations, budget, retry, wait, cleanup, placement, admission } = overrides;
  const usd = budget?.usd ?? job.budget?.usd;
  return {
    ...job,
    ...(defaults === undefined ? {} : { defaults: withFields(job.defaults ?? {}, defaults) }),
    conversations: job.conversations.map((own) => withFields(own, conversations?.[own.id] ?? {})),
    ...defined({ placement, retry }),
    ...(admission === undefined ? {} : { admission: { ...job.admission, ...admission } }),
    ...(budget === undefined || usd === undefined ? {} : { budget: { ...job.budget, ...budget, usd } }),
    ...(wait === undefined ? {} : { wait: { ...job.wait, ...wait } }),
    ...(cleanup === undefined ? {} : { cleanup: { ...job.cleanup, ...cleanup } }),
  };
}

type Fields = NonNullable<OverridesDocument['defaults']>;

function withFields<Own extends Fields>(own: Own, { limits, priority }: Fields): Own {
  return {
    ...own,
    ...(limits === undefined ? {} : { limits: { ...own.limits, ...limits } }),
    ...(priority === undefined ? {} : { priority }),
  };
}

/** Names of a scenario that must exist elsewhere: conversations of the job, faults of the simulator. */
function checkFaults({ root, report }: ScenarioCheck, faults: readonly string[]): void {
  for (const { key, keySpan } of entriesOf(childOf(root, 'faults'))) {
    if (faults.includes(key)) continue;
    report.add('SCN302', keySpan, `there is no fault ${quote(key)}`, {
      remedy: didYouMean(key, faults, 'docs/faults.md lists them'),
    });
  }
}

/** What happens to hosts, and what holds of them, against those of the policy. */
function checkHosts({ root, report }: ScenarioCheck): void {
  const hosts = entriesOf(treeAt(root, ['policy', 'hosts'])).map(({ key }) => key);
  const add = '"policy.hosts" says which hosts there are, such as "hosts: {a: {capacity: 8}}"';
  const names = listAt(root, ['events']).flatMap((event) => entryOf(childOf(event, 'host'), 'name') ?? []);
  for (const { value } of names) {
    const name = textOf(value);
    if (name === null || hosts.includes(name)) continue;
    const remedy = hosts.length === 0 ? add : didYouMean(name, hosts, `the hosts are ${hosts.join(', ')}`);
    report.add('SCN303', value.span, `the policy has no host ${quote(name)}`, { remedy });
  }
  const host = entryOf(childOf(root, 'policy'), 'host');
  if (host === undefined || hosts.length > 0) return;
  report.add('SCN303', host.keySpan, 'the policy has no hosts of which this could hold', { remedy: add });
}

/** Keys of events, against the plan. */
function checkTargets({ root, report, plan }: PlannedCheck): void {
  const known = plan.items.map(({ key }) => key);
  for (const event of listAt(root, ['events'])) {
    for (const { value } of targetKeys(event)) {
      const key = textOf(value);
      if (key !== null && !known.includes(key)) addUnknownKey(key, { known, span: value.span, report });
    }
  }
}

/** Overrides of conversations that the job does not have, and a budget that has no amount on either side. */
function checkOverrides({ root, report, plan }: PlannedCheck): void {
  const ids = [...new Set(plan.items.map(({ entry }) => entry))];
  for (const { key, keySpan } of entriesOf(treeAt(root, ['overrides', 'conversations']))) {
    if (ids.includes(key)) continue;
    report.add('SCN301', keySpan, `the job has no conversation with the id ${quote(key)}`, {
      remedy: didYouMean(key, ids, `its ids are ${ids.join(', ')}`),
    });
  }
  const budget = entryOf(childOf(root, 'overrides'), 'budget');
  if (budget === undefined || plan.budget !== null || entryOf(budget.value, 'usd') !== undefined) return;
  report.add('JOB202', budget.keySpan, '"usd" is missing under "budget", and the job has no budget', {
    remedy: 'write an amount of USD, such as "usd: 2.50"',
  });
}
