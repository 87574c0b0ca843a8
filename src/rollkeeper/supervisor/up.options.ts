import { z } from 'zod';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';

const wholeNumber = (least: number, most: number) =>
  z.coerce
    .number('is not a number')
    .int('is not a whole number')
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`);

const schema = z.object({
  replicas: wholeNumber(1, 20).default(3),
  nodes: wholeNumber(0, 1000).default(3),
  'data-dir': z.string().min(1, 'must name a folder').default('.rollkeeper'),
  port: wholeNumber(0, 65535).default(16443),
  'redis-url': z.string().optional(),
  'controller-args': z.array(z.string()).default([]),
});

/** Options of `rollkeeper up`, as typed. */
export type UpOptions = z.input<typeof schema>;

/**
 * Options of `rollkeeper up`, complete: `replicas` controller processes (default 3), `nodes` simulated nodes
 * (default 3), `data-dir` for everything that is kept (default `.rollkeeper`), `port` of the API server (default
 * 16443; 0 lets the system choose), `redis-url` of a Redis to use instead of one of our own,
 * `controller-args`: further arguments of every controller process.
 */
export type CompiledUpOptions = Readonly<z.output<typeof schema>>;

/** @throws InvalidOptionError */
export function compileUpOptions(options: UpOptions): CompiledUpOptions {
  return compileOptions(schema, options);
}
