import { BadRequestException } from '@nestjs/common';
import { z } from 'zod';

/** Names of controllers, replicas, namespaces, objects. No relative segments of a path: a name goes into paths of the API. */
const NAME = /^(?!\.{1,2}$)[\w.-]{1,253}$/;
/** Any key of a queue, except control characters. */
const KEY = /^[^\p{Cc}]{1,1000}$/u;
/** The text that people look for. */
const TEXT = /^[^\p{Cc}]{0,200}$/u;

export function parseName(name: unknown, what: string): string {
  if (typeof name !== 'string' || !NAME.test(name))
    throw new BadRequestException({ error: `${what} is not a name` });
  return name;
}

/** The namespace of a query. Undefined: all of them. */
export function parseScope(namespace: unknown): string | undefined {
  if (namespace === undefined || namespace === '') return undefined;
  if (typeof namespace !== 'string') throw new BadRequestException({ error: 'namespace is not a name' });
  return parseName(namespace, 'namespace');
}

/** One line of text from a query; empty if there is none. */
export function parseText(text: unknown, what: string): string {
  if (text === undefined) return '';
  if (typeof text !== 'string' || !TEXT.test(text))
    throw new BadRequestException({ error: `${what} must be a line of at most 200 characters` });
  return text;
}

export function parseKeyText(key: unknown): string {
  if (typeof key !== 'string' || !KEY.test(key))
    throw new BadRequestException({
      error: 'key must be text of 1 to 1000 characters, for example default/web',
    });
  return key;
}

/** A whole number from a query; the fallback if there is none. */
export function parseCount(text: unknown, { fallback, max }: { fallback: number; max: number }): number {
  if (text === undefined) return fallback;
  const count = Number(text);
  if (typeof text !== 'string' || !Number.isInteger(count) || count < 0 || count > max)
    throw new BadRequestException({ error: `must be a whole number from 0 to ${max}` });
  return count;
}

/** @throws BadRequestException describing the problem in the body */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new BadRequestException({ error: z.prettifyError(result.error) });
}
