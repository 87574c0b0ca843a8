import { parseGoDurationMs } from '@rollkeeper/machinery/clock';
import { z } from 'zod';

/** A duration as Go writes it, `1m30s`, in milliseconds. */
export const durationMs = z.string().transform((text, context) => {
  const ms = parseGoDurationMs(text);
  if (ms !== undefined) return ms;
  context.addIssue({ code: 'custom', message: 'is not a duration such as 15s or 500ms' });
  return z.NEVER;
});
