/** A header or a cookie of a request. */
export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** The requests that a new version gets. */
export interface Share {
  /** The part of all requests, percent. */
  readonly percent: number;
  /** Requests with this header as well. @default none */
  readonly header?: NamedValue;
  /** Requests with this cookie as well. @default none */
  readonly cookie?: NamedValue;
  /** The part of the requests that are sent by weight of which it gets copies, percent. @default 0 */
  readonly mirror?: number;
}

/** No request at all. */
export const NO_SHARE: Share = { percent: 0 };
/** All requests, and nothing beside them. */
export const WHOLE_SHARE: Share = { percent: 100 };

/** Whether a version gets any request, or the copy of one. */
export function isShared({ cookie, header, mirror = 0, percent }: Share): boolean {
  return percent > 0 || mirror > 0 || header !== undefined || cookie !== undefined;
}
