import { shortenedTo } from '../../shared/index.js';
import type { Annotations } from '../kubernetes/annotations.js';

/** Limit of a name in an annotation that the controller reads back, characters. */
const LONGEST_NAME = 300;

/**
 * The name in the annotation of a request; undefined: nothing is requested. Its author is anyone who may write the Deployment, so it
 * may be long, and it proves nothing by itself: an API server that knows its users adds theirs.
 */
export function requesterOf(annotations: Annotations, request: string): string | undefined {
  const name = annotations[request];
  return name === undefined ? undefined : shortenedTo(LONGEST_NAME, name);
}
