/** The words of gateways for a model that they do not have, as each product has them, and words that say nothing of one. */
import { expect, it } from 'vitest';
import { saysModelUnknown } from '../../core/unknown-model.ts';

it.each([
  ['OpenAI', 'The model `gpt-9` does not exist or you do not have access to it.'],
  ['OpenAI, its code', '{"error":{"code":"model_not_found","message":"no"}}'],
  [
    'LiteLLM',
    '/chat/completions: Invalid model name passed in model=gpt-9. Call `/v1/models` to view available models',
  ],
  ['OpenRouter', 'acme/gpt-9 is not a valid model ID'],
  ['Mistral', 'Invalid model: gpt-9'],
  ['Bedrock', 'The provided model identifier is invalid.'],
  ['the scripted gateway', 'Cannot answer: unknown model "acme/writer-1", see GET /v1/models'],
])('%s has no such model', (_name, text) => {
  expect(saysModelUnknown(text)).toBe(true);
});

it.each([
  "Unsupported parameter: 'max_tokens' is not supported with this model.",
  'The file was not found.',
  'Invalid value: temperature must be at most 2 for this model',
])('says nothing of a model: %s', (text) => {
  expect(saysModelUnknown(text)).toBe(false);
});
