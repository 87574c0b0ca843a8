import { BadRequestException } from '@nestjs/common';
import { z } from 'zod';

/** Names of controllers, replicas, namespaces, objects. */
const NAME = /^[\w.-]{1,253}$/;
/** Any key of a queue, except control characters. */
const KEY = /^[^\p{Cc}]{1,1000}$/u;

export function parseName(name: string, what: string): string {
  if (!NAME.test(name)) throw new BadRequestException({ error: `${what} is not a name` });
  return name;
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
