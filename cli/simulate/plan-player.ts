/**
 * The thread that plays one job, while the main one serves.
 * Owns the time that a play is given; what is played, job-play.ts says.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { asParleyError } from '../../core/parley-error.ts';
import { PLAY_MS_MAX, type PlayerData, type PlayerSaying } from './threaded-simulator.ts';
import { pageOf, playJob, simulationOf } from './job-play.ts';

const { job, form } = workerData as PlayerData;

/** A thread's clock may be that of its process. */
const begunAt = performance.now();

function said(): PlayerSaying {
  try {
    const played = playJob(job, () => performance.now() - begunAt < PLAY_MS_MAX);
    return form === 'page'
      ? { said: 'page', page: pageOf(played) }
      : { said: 'simulation', simulation: simulationOf(played) };
  } catch (error) {
    const { code, message, details, remedy } = asParleyError(error);
    return { said: 'error', code, message, details, remedy };
  }
}

parentPort?.postMessage(said());
