/**
 * What stands in the editor before the user has written anything.
 * Owns the text; a test compiles it.
 */
export function firstJob(model: string): string {
  return `kind: job
version: 1
name: first-try
defaults:
  model: ${model}
admission:
  concurrency: 2
conversations:
  - id: look-around
    prompt: Look at the files here, and say in a sentence what they are for.
`;
}
