import type { Json } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';

export interface ReadAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export async function get(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<ReadAnswer> {
  return send(url, 'GET', path, { headers });
}

export async function send(
  url: string,
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<ReadAnswer> {
  const response = await fetch(`${url}${path}`, { method, ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The value at a path of fields; undefined if there is none. */
export function objectAt(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((at, name) => (isJsonObject(at) ? at[name] : undefined), value);
}

export function textAt(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
