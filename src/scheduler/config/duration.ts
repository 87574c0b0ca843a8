import { z } from 'zod';

const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const DURATION = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/;

/** A duration as Go writes it, `1m30s`, in milliseconds. */
export const durationMs = z
  .string()
  .refine((text) => text === '0' || DURATION.test(text), 'is not a duration such as 15s or 500ms')
  .transform((text) =>
    [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/gy)].reduce(
      (sum, [, amount, unit]) => sum + Number(amount) * (UNITS_MS[unit ?? ''] ?? 0),
      0,
    ),
  );
