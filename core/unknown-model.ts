/**
 * The words in which gateways say that they do not have a model: many answer 400 where OpenAI answers 404.
 * Owns the pattern for whoever classes a refusal; must not know statuses, which say nothing of it by themselves.
 */

/**
 * OpenAI, Groq and vLLM: "The model `x` does not exist", `model_not_found`. LiteLLM: "Invalid model name passed in model=x".
 * OpenRouter: "x is not a valid model ID". Mistral: "Invalid model: x". Bedrock: "The provided model identifier is invalid".
 */
export const UNKNOWN_MODEL =
  /\bmodel_not_found\b|\b(?:unknown|invalid|unsupported) model\b|\bnot a valid model\b|\bmodel\b.{0,200}?\b(?:not exist|not found|identifier is invalid)\b/is;

/** The text of a refusal says that this model is not to be had, so that no further try will help. */
export function saysModelUnknown(text: string): boolean {
  return UNKNOWN_MODEL.test(text);
}
