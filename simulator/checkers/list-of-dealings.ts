/**
 * Invariants of how machines deal with one another and runs with their items, with their names.
 * Owns the list; list.ts asks them with all others.
 */
import { admissionFits } from './admission-fits.ts';
import { agentsAgree } from './agents-agree.ts';
import { attemptsHaveTheirTime } from './attempts-have-their-time.ts';
import { boundedLoops } from './bounded-loops.ts';
import type { LivenessChecker, SafetyChecker } from './checker.ts';
import { cleanedUpWithCare } from './cleaned-up-with-care.ts';
import { deadlinesAreMet } from './deadlines-are-met.ts';
import { deadlinesStrike } from './deadlines-strike.ts';
import { deletionsAreFinal } from './deletions-are-final.ts';
import { handedToTheArmed } from './handed-to-the-armed.ts';
import { itemsStayAsGiven } from './items-stay-as-given.ts';
import { lateAnswersChangeNothing } from './late-answers.ts';
import { laterRequestWins } from './later-request-wins.ts';
import { newestWins } from './newest-wins.ts';
import { noSlotIdles } from './no-slot-idles.ts';
import { nobodyWaitsInVain } from './nobody-waits-in-vain.ts';
import { poolsKeepTheirBounds } from './pools-keep-their-bounds.ts';
import { rateLimitsEnd } from './rate-limits-end.ts';
import { repeatsChangeNothing } from './repeats.ts';
import { runsEndWhole } from './runs-end-whole.ts';
import { shardsAgree } from './shards-agree.ts';
import { sessionsOfTheirOwn } from './sessions-of-their-own.ts';
import { strangersKeepTheirSandbox } from './strangers-keep-their-sandbox.ts';
import { theEndedStayEnded } from './the-ended-stay-ended.ts';
import { waitersAnswered } from './waiters-answered.ts';
import { workingKeepTheirSandbox } from './working-keep-their-sandbox.ts';

/** Made anew for every run: some of them remember. */
export function dealings(): readonly SafetyChecker[] {
  return [...ofAnyMachine(), ...ofSandboxes(), ...ofWork()];
}

function ofAnyMachine(): readonly SafetyChecker[] {
  return [
    {
      name: 'I17',
      says: 'an answer that is not awaited changes nothing',
      machine: null,
      check: lateAnswersChangeNothing,
    },
    {
      name: 'I18',
      says: 'a request that comes again changes nothing',
      machine: null,
      check: repeatsChangeNothing(),
    },
    { name: 'I19', says: 'the newest word wins', machine: null, check: newestWins },
    { name: 'I20', says: 'every loop has its bound', machine: null, check: boundedLoops() },
    { name: 'I27', says: 'deadlines are met', machine: null, check: deadlinesAreMet() },
    {
      name: 'I28',
      says: 'a clean-up takes nobody else away',
      machine: null,
      check: strangersKeepTheirSandbox(),
    },
    { name: 'I30', says: 'the ended stay ended', machine: null, check: theEndedStayEnded },
    { name: 'I31', says: 'no slot idles while somebody waits', machine: null, check: noSlotIdles() },
  ];
}

function ofSandboxes(): readonly SafetyChecker[] {
  return [
    { name: 'I21', says: 'the later wish wins', machine: 'sandbox', check: laterRequestWins() },
    {
      name: 'I22',
      says: 'who waits for a resume is answered once',
      machine: 'sandbox',
      check: waitersAnswered(),
    },
    {
      name: 'I23',
      says: 'a session has a generation of its own',
      machine: 'sandbox',
      check: sessionsOfTheirOwn(),
    },
    { name: 'I24', says: 'deletions are never undone', machine: 'sandbox', check: deletionsAreFinal },
    {
      name: 'I26',
      says: 'who works keeps the sandbox',
      machine: 'sandbox',
      check: workingKeepTheirSandbox(),
    },
  ];
}

function ofWork(): readonly SafetyChecker[] {
  return [
    {
      name: 'I25',
      says: 'an agent is handed something only when armed',
      machine: 'conversation',
      check: handedToTheArmed,
    },
    { name: 'I29', says: 'a rate limit ends', machine: 'conversation', check: rateLimitsEnd },
    { name: 'R1', says: 'a run begins only what fits', machine: 'run', check: admissionFits },
    { name: 'R2', says: 'a run ends with all of its items', machine: 'run', check: runsEndWhole },
    {
      name: 'R3',
      says: 'a run lets go of nothing that is needed',
      machine: 'run',
      check: cleanedUpWithCare(),
    },
    {
      name: 'R4',
      says: 'who is in flight stays what it was given',
      machine: 'run',
      check: itemsStayAsGiven,
    },
    { name: 'R5', says: 'a pool keeps its bounds', machine: null, check: poolsKeepTheirBounds() },
    { name: 'R6', says: 'an attempt has its time', machine: null, check: attemptsHaveTheirTime() },
  ];
}

export const DEALINGS_AT_REST: readonly LivenessChecker[] = [
  { name: 'L8', says: 'no deadline is in the past', check: deadlinesStrike },
  { name: 'L9', says: 'nobody waits in vain', check: nobodyWaitsInVain },
  { name: 'L10', says: 'nobody works where nothing runs', check: agentsAgree },
  { name: 'L11', says: 'a run and its shards agree', check: shardsAgree },
];
