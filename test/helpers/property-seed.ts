/**
 * Runs before each file of tests: every property draws from the listed seed, so that no two runs differ by chance.
 * A property that names a seed of its own keeps it.
 */
import fc from 'fast-check';
import { seedsOf } from './seeds.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: seedsOf('properties').seed });
