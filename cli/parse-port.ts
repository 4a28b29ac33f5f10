/**
 * Whole numbers as they are typed, a TCP port among them.
 * Owns their bounds; must not ask whether a port is free.
 */
import { InvalidArgumentError } from 'commander';

/** Reads one between `min` and `max`. @throws InvalidArgumentError, which says what `noun` is to be given */
export function numberFrom(min: number, max: number, noun: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Give ${noun} from ${min} to ${max}.`);
  };
}

/** From 0, which lets the system choose. */
export const parsePort = numberFrom(0, 65_535, 'a number');
