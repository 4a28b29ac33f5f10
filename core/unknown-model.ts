/**
 * The words in which gateways refuse a model that they do not have: many answer 400 where OpenAI answers 404.
 * Owns the pattern for the code that classifies a refusal; must not know statuses, which alone do not show it.
 */

/**
 * OpenAI, Groq and vLLM: "The model `x` does not exist", `model_not_found`. LiteLLM: "Invalid model name passed in model=x".
 * OpenRouter: "x is not a valid model ID". Mistral: "Invalid model: x". Bedrock: "The provided model identifier is invalid".
 */
export const UNKNOWN_MODEL =
  /\bmodel_not_found\b|\b(?:unknown|invalid|unsupported) model\b|\bnot a valid model\b|\bmodel\b.{0,200}?\b(?:not exist|not found|identifier is invalid)\b/is;

/** The text of a refusal says that this model does not exist there, so that no further try will help. */
export function saysModelUnknown(text: string): boolean {
  return UNKNOWN_MODEL.test(text);
}
