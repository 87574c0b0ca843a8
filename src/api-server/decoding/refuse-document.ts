import { badRequest, requestTooLarge } from '../errors/index.js';
import { DocumentLimitError } from '../schema/index.js';

/** What is said of a document that is too much, whoever has noticed it; anything else is left as it is. */
export function translateDocumentLimit(error: unknown): unknown {
  if (!(error instanceof DocumentLimitError)) return error;
  return error.limit === 'depth' ? badRequest(error.message, error) : requestTooLarge(error.message);
}
