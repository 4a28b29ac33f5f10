/**
 * docs/faults.md as text, made from the catalogue of faults.
 * Owns the layout of the page; what a fault does is said where it is named.
 */
import { FAULT_CLASSES, FAULTS, type FaultClass } from './catalogue.ts';

const TITLES: Readonly<Record<FaultClass, string>> = {
  runtime: 'Runtimes',
  agent: 'Agent Servers and the gateway',
  store: 'The store',
  worker: 'Workers',
  transport: 'Between machines',
  client: 'Clients',
};

/** What an opportunity is, by class: the probability in a mix is asked there, each time. */
const OPPORTUNITIES: Readonly<Record<FaultClass, string>> = {
  runtime: 'Asked at every try of a call, at every boot and at every look.',
  agent: 'Asked at every call, every message that an agent takes, and every report.',
  store: 'Asked at every commit; an old read at every placement.',
  worker: 'Asked at every commit and whenever a command is handed out.',
  transport: 'Asked at every message between machines and at every answer of a command.',
  client: 'Asked at every request of a client, and when an entity enters a phase.',
};

const INTRO = [
  '# Faults',
  '',
  'Every fault that the simulator can inject, by the port at which it strikes.',
  'Each kind has a probability of its own, from 0 to 1, which is asked at each of its opportunities: under `faults` in a [scenario](scenario-language.md), and at random in a [campaign](simulation.md).',
  'The same seed lets the same faults strike at the same places.',
  'This page is written by `npm run gen` from `simulator/faults/catalogue.ts`.',
];

/** The text of `docs/faults.md`. */
export function faultsPage(): string {
  const sections = FAULT_CLASSES.flatMap((one) => [
    '',
    `## ${TITLES[one]}`,
    '',
    OPPORTUNITIES[one],
    '',
    '| fault | what happens |',
    '| --- | --- |',
    ...Object.entries(FAULTS)
      .filter(([, entry]) => entry.class === one)
      .map(([name, { says }]) => `| \`${name}\` | ${says} |`),
  ]);
  return `${[...INTRO, ...sections].join('\n')}\n`;
}
