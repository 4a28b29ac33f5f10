/**
 * `parley/testing`: tests of a lifecycle policy on a virtual clock, or on Temporal under time skipping.
 * Owns the list of what tests may use; everything else below may change.
 */
export { createWorld, type StartOptions, type World, type WorldOptions } from './world.ts';
export type { WorldEngine } from './engine-choice.ts';
export type { ConversationHandle } from './conversation-handle.ts';
export type { ItemHandle, RunHandle } from './run-handle.ts';
export type { SandboxHandle } from './sandbox-handle.ts';
export { parleyMatchers, type MatcherResult, type PausedOptions } from './matchers.ts';
export type { WrittenAgent, WrittenModels } from './written-models.ts';
export type { WrittenPolicy } from './written-policy.ts';
export type { Time, Times } from './written-time.ts';
