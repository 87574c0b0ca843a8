import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import type { KindDefinition } from '../kinds/index.js';
import { parseFieldSelector } from './field-selector-text.js';
import { parseLabelSelector } from './label-selector-text.js';

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
export function parseSelection(query: URLSearchParams, kind: KindDefinition, only = ''): Selection {
  const labels = parseLabelSelector(query.get('labelSelector'));
  const fields = parseFieldSelector(query.get('fieldSelector'), kind);
  return {
    all: labels === undefined && fields === undefined && only === '',
    name: only || fields?.name,
    matches: (object) =>
      (only === '' || object.metadata.name === only) &&
      (labels === undefined || labels(object.metadata.labels)) &&
      (fields === undefined || fields.matches(object)),
  };
}
