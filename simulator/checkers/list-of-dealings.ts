/**
 * Invariants of how machines deal with one another and runs with their items, with their names.
 * Owns the list; list.ts asks them with all others.
 */
import { admissionFits, noSlotIdles } from './of-slots.ts';
import { agentsAgree, nobodyWaitsInVain } from './of-rest.ts';
import { attemptsHaveTheirTime } from './attempts-have-their-time.ts';
import { boundedLoops } from './bounded-loops.ts';
import { atRest, safety, type LivenessChecker, type SafetyChecker } from './checker.ts';
import { cleanedUpWithCare, itemsStayAsGiven, runsEndWhole, shardsAgree } from './of-runs.ts';
import {
  deadlinesAreMet,
  deadlinesStrike,
  newestWins,
  repeatsChangeNothing,
  theEndedStayEnded,
} from './of-any-machine.ts';
import { deletionsAreFinal } from './of-idle-time.ts';
import { handedToTheArmed, rateLimitsEnd } from './of-conversations.ts';
import { lateAnswersChangeNothing } from './late-answers.ts';
import {
  laterRequestWins,
  strangersKeepTheirSandbox,
  waitersAnswered,
  workingKeepTheirSandbox,
} from './of-wishes.ts';
import { poolsKeepTheirBounds } from './pools-keep-their-bounds.ts';
import { sessionsOfTheirOwn } from './of-runtime.ts';

/** Made anew for every run: some of them remember. */
export function dealings(): readonly SafetyChecker[] {
  return safety([
    ['I17', 'an answer that is not awaited changes nothing', null, lateAnswersChangeNothing],
    ['I18', 'a request that comes again changes nothing', null, repeatsChangeNothing()],
    ['I19', 'the newest word wins', null, newestWins],
    ['I20', 'every loop has its bound', null, boundedLoops()],
    ['I27', 'deadlines are met', null, deadlinesAreMet()],
    ['I28', 'a clean-up takes nobody else away', null, strangersKeepTheirSandbox()],
    ['I30', 'the ended stay ended', null, theEndedStayEnded],
    ['I31', 'no slot idles while somebody waits', null, noSlotIdles()],
    ['I21', 'the later wish wins', 'sandbox', laterRequestWins()],
    ['I22', 'who waits for a resume is answered once', 'sandbox', waitersAnswered()],
    ['I23', 'a session has a generation of its own', 'sandbox', sessionsOfTheirOwn()],
    ['I24', 'deletions are never undone', 'sandbox', deletionsAreFinal],
    ['I26', 'who works keeps the sandbox', 'sandbox', workingKeepTheirSandbox()],
    ['I25', 'an agent is handed something only when armed', 'conversation', handedToTheArmed],
    ['I29', 'a rate limit ends', 'conversation', rateLimitsEnd],
    ['R1', 'a run begins only what fits', 'run', admissionFits],
    ['R2', 'a run ends with all of its items', 'run', runsEndWhole],
    ['R3', 'a run lets go of nothing that is needed', 'run', cleanedUpWithCare()],
    ['R4', 'who is in flight stays what it was given', 'run', itemsStayAsGiven],
    ['R5', 'a pool keeps its bounds', null, poolsKeepTheirBounds()],
    ['R6', 'an attempt has its time', null, attemptsHaveTheirTime()],
  ]);
}

export const DEALINGS_AT_REST: readonly LivenessChecker[] = atRest([
  ['L8', 'no deadline is in the past', deadlinesStrike],
  ['L9', 'nobody waits in vain', nobodyWaitsInVain],
  ['L10', 'nobody works where nothing runs', agentsAgree],
  ['L11', 'a run and its shards agree', shardsAgree],
]);
