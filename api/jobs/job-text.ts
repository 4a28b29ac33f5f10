/**
 * A job as somebody writes it into a page: its text, and values for its inputs.
 * Owns the bounds.
 */
import { z } from 'zod';

/** A page compiles after every pause in the typing; a longer job is a file, and for the command line. */
const TEXT_CHARS_MAX = 256 * 1024;
const INPUTS_MAX = 100;
const VALUE_CHARS_MAX = 10_000;

/** Fields of a body. */
export const jobTextFields = {
  text: z.string().max(TEXT_CHARS_MAX),
  inputs: z
    .record(z.string(), z.string().max(VALUE_CHARS_MAX))
    .refine((inputs) => Object.keys(inputs).length <= INPUTS_MAX, `Input should have at most ${INPUTS_MAX}`)
    .default({}),
};
