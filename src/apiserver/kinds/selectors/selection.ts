import type { UnstructuredObject, LabelMatcher } from '@rollkeeper/machinery/kubernetes';

import { fieldTerms, parseFieldSelector } from './field-selector-text.js';
import type { SelectableKind } from './field-selector-text.js';
import { LabelSelectorSyntaxError, parseLabelSelector as parse } from '@rollkeeper/machinery/kubernetes';
import { badRequest } from '../../schema/errors/index.js';

/** Label and field selector of one request together. */
export interface Selection {
  /** Whether everything is selected. */
  readonly all: boolean;
  /** Set when only an object of this name can be selected. */
  readonly name?: string;
  matches(object: Readonly<UnstructuredObject>): boolean;
}

/**
 * @param only the name in the path, when the request is about one object
 * @throws StatusError 400 for a selector that cannot be read
 */
export function parseSelection(query: URLSearchParams, kind: SelectableKind, only = ''): Selection {
  const labels = parseLabelSelector(query.get('labelSelector'));
  const fields = parseFieldSelector(query.get('fieldSelector'), kind);
  return {
    all: labels === undefined && fields === undefined && only === '',
    name: only || fields?.name,
    matches: (object) =>
      (only === '' || object.metadata.name === only) &&
      isSelected(() => (labels?.(object.metadata.labels) ?? true) && (fields?.matches(object) ?? true)),
  };
}

/**
 * Whether both selectors can be read, for any kind: that is found before anything else is judged.
 * @throws StatusError 400
 */
export function checkSelectors(query: URLSearchParams): void {
  parseLabelSelector(query.get('labelSelector'));
  fieldTerms(query.get('fieldSelector'));
}

/** An object in the store whose fields have other types than a selector looks at is not selected, and keeps no other from being. */
function isSelected(matches: () => boolean): boolean {
  try {
    return matches();
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

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
