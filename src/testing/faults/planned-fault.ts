import { z } from 'zod';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';
import type { RequestMatch, SeenRequest } from './request-match.js';
import { isMatch } from './request-match.js';

/** The fault of a request's answer. */
export type AnswerFault =
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly reason: string;
      /** Whether the server has done what was asked. */
      readonly when: 'before' | 'after';
      readonly retryAfterSeconds?: number;
    }
  /** The connection breaks without an answer. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'after' }
  /** Nothing comes, and the connection stays. */
  | { readonly kind: 'silence'; readonly when: 'before' | 'after' };

/** The next requests that fail, and how: `code`, or `connection` in its place. */
export interface NextFault extends RequestMatch {
  /** The status of the answer, 400 to 599. */
  readonly code?: number;
  /** `cut`: it breaks without an answer. `silent`: no answer comes, until the client gives up or the faults are healed. */
  readonly connection?: 'cut' | 'silent';
  /** `after`: the server has done what was asked. A request that it refuses does not count. @default 'before' */
  readonly when?: 'before' | 'after';
  /** The reason of the status. @default the usual one of the code */
  readonly reason?: string;
  /** @default for 429 the option `retryAfterSeconds`, otherwise none */
  readonly retryAfterSeconds?: number;
  /** How many requests. @default 1 */
  readonly times?: number;
}

/** A fault that was asked for. */
export interface PlannedFault {
  /** How many requests it has hit. */
  readonly hits: number;
  /** Resolves when it has hit all that it is for. Stays pending if it is withdrawn before. */
  readonly done: Promise<void>;
  /** No further request is hit. */
  cancel(): void;
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** A {@link PlannedFault} with its count. */
export class CountedFault implements PlannedFault {
  readonly fault: AnswerFault;
  readonly done: Promise<void>;
  private taken = 0;
  private happened = 0;
  private left: number;
  private readonly match: RequestMatch;
  private resolveDone: () => void = () => undefined;

  /** @throws InvalidOptionError naming the field */
  constructor(next: NextFault, retryAfterSeconds: number) {
    const compiled = compileNextFault(next);
    this.match = compiled;
    this.fault = faultOf(compiled, retryAfterSeconds);
    this.left = compiled.times;
    this.done = new Promise((resolve) => (this.resolveDone = resolve));
  }

  get hits(): number {
    return this.happened;
  }

  /** Takes one of its times for the request, if it is for it. */
  takes(request: SeenRequest): boolean {
    if (this.left === 0 || !isMatch(this.match, request)) return false;
    this.left -= 1;
    this.taken += 1;
    return true;
  }

  /** The fault that a request took has happened. */
  hit(): void {
    this.taken -= 1;
    this.happened += 1;
    if (this.left === 0 && this.taken === 0) this.resolveDone();
  }

  /** The request that took it was refused: it is for another one. */
  giveBack(): void {
    this.taken -= 1;
    this.left += 1;
  }

  cancel(): void {
    this.left = 0;
  }
}

const text = z.string();
const schema = z.strictObject({
  verb: z.union([text, z.array(text)], 'must be one verb or several').optional(),
  resource: text.optional(),
  subresource: text.optional(),
  namespace: text.optional(),
  name: text.optional(),
  code: z
    .int('must be a status from 400 to 599')
    .min(400, 'must be a status from 400 to 599')
    .max(599, 'must be a status from 400 to 599')
    .optional(),
  connection: z.enum(['cut', 'silent'], 'must be cut or silent').optional(),
  when: z.enum(['before', 'after'], 'must be before or after').default('before'),
  reason: text.optional(),
  retryAfterSeconds: z.int().min(0).optional(),
  times: z.int('must be a whole number from 1').min(1, 'must be a whole number from 1').default(1),
});

type CompiledNextFault = z.infer<typeof schema>;

/** @throws InvalidOptionError naming the field */
function compileNextFault(next: NextFault): CompiledNextFault {
  const compiled = compileOptions(schema, next);
  if ((compiled.code === undefined) === (compiled.connection === undefined))
    throw new InvalidOptionError('code', 'is given or, in its place, connection');
  return compiled;
}

function faultOf({ code, connection, reason, when, ...next }: CompiledNextFault, usual: number): AnswerFault {
  if (code === undefined) return { kind: connection === 'cut' ? 'cut' : 'silence', when };
  const retryAfterSeconds = next.retryAfterSeconds ?? (code === 429 ? usual : undefined);
  return {
    kind: 'status',
    code,
    reason: reason ?? REASONS[code] ?? 'InternalError',
    when,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}
