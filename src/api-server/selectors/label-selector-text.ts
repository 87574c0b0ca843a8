import type { LabelMatcher } from '../../base/kubernetes/index.js';
import { LabelSelectorSyntaxError, parseLabelSelector as parse } from '../../base/kubernetes/index.js';
import { badRequest } from '../errors/index.js';

/**
 * Compiles the text of a `labelSelector` parameter; one that is missing or empty selects everything.
 * @throws StatusError 400
 */
export function parseLabelSelector(text: string | null): LabelMatcher | undefined {
  try {
    return text === null ? undefined : parse(text);
  } catch (error) {
    throw error instanceof LabelSelectorSyntaxError ? badRequest(error.message) : error;
  }
}
