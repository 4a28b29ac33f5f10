/**
 * What is said of an event before it is there. Owns the shapes: that of words is the reference's, and says beside it
 * which answer they belong to. None of them is logged, and the event itself has all that they said.
 */

/** Words of the model since the last one. */
export interface StreamingDelta {
  readonly kind: 'StreamingDeltaEvent';
  readonly source: 'agent';
  readonly content?: string;
  readonly reasoning_content?: string;
  /** As the event will have it. */
  readonly llm_response_id: string;
}

/** Output of a command that still runs, since the last one. */
export interface StreamingOutput {
  readonly kind: 'StreamingOutputEvent';
  readonly source: 'environment';
  readonly tool_name: string;
  readonly tool_call_id: string;
  readonly action_id: string;
  readonly content: string;
}

export type PartialEvent = StreamingDelta | StreamingOutput;
