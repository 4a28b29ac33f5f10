/**
 * The campaign with hosts: seed after seed, with every invariant asked, and what befell hosts in them.
 * `npm run bench -- hosts-campaign [SEEDS] [FROM]`; the exit code is 1 when an invariant broke. Owns the counts; a case is
 * what simulator/campaign/ makes of its seed.
 */
import { DAY_MS, SECOND_MS } from '../core/time.ts';
import { hostedCase } from '../simulator/campaign/random-case.ts';
import { runCase } from '../simulator/campaign/run-case.ts';
import { HOST_INCIDENT_NAMES } from '../simulator/hosts/host-incident.ts';

const YEAR_DAYS = 365;
const [seeds = 100, from = 0] = process.argv.slice(2).map(Number);

const sums = { events: 0, simulatedMs: 0, faults: 0, hosts: 0, lost: 0 };
const befell = new Map<string, number>(HOST_INCIDENT_NAMES.map((name) => [name, 0]));
const broken: string[] = [];
const startedAt = process.hrtime.bigint();
for (let seed = from; seed < from + seeds; seed += 1) {
  const { policy, incidents, safetyMs } = hostedCase(seed);
  sums.hosts += policy.hosts?.hosts.length ?? 0;
  for (const { atMs, incident } of incidents)
    if (atMs < safetyMs) befell.set(incident.name, (befell.get(incident.name) ?? 0) + 1);
  const { events, simulatedMs, injected, coverage, violations } = runCase({ seed, hosts: true });
  sums.events += events;
  sums.simulatedMs += simulatedMs;
  sums.faults += injected.length;
  for (const [name, count] of Object.entries(coverage.transitions))
    if (name.endsWith('by hostLost')) sums.lost += count;
  const [first] = violations;
  if (first !== undefined) broken.push(`seed ${seed}: ${first.name}: ${first.entity}: ${first.problem}`);
}
const ms = Number(process.hrtime.bigint() - startedAt) / 1e6;
console.log(
  [
    `seeds ${from} to ${from + seeds - 1}: ${sums.hosts} hosts, ${sums.events} events in ${(ms / SECOND_MS).toFixed(1)} s`,
    `simulated: ${(sums.simulatedMs / DAY_MS / YEAR_DAYS).toFixed(1)} years; ${sums.faults} other faults struck`,
    ...[...befell].map(([name, count]) => `  ${name.padEnd(14)} ${count}`),
    `sandboxes lost with their host: ${sums.lost}`,
    `violations: ${broken.length}`,
    ...broken,
  ].join('\n'),
);
process.exitCode = broken.length === 0 ? 0 : 1;
