import type { Sampler } from '@opentelemetry/sdk-trace-base';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';

/**
 * The sampler configured by OpenTelemetry's standard variables: `OTEL_TRACES_SAMPLER` (default `parentbased_always_on`)
 * and `OTEL_TRACES_SAMPLER_ARG`, the ratio.
 * @throws InvalidOptionError for a value that the standard does not define: an error is better than half a trace
 */
export function samplerFromEnv(env: NodeJS.ProcessEnv): Sampler {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const root = rootSampler(name.replace(/^parentbased_/, ''), env['OTEL_TRACES_SAMPLER_ARG']);
  if (!root) throw new InvalidOptionError('OTEL_TRACES_SAMPLER', `"${name}" is not a known sampler`);
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(name: string, argument: string | undefined): Sampler | undefined {
  if (name === 'always_on') return new AlwaysOnSampler();
  if (name === 'always_off') return new AlwaysOffSampler();
  if (name !== 'traceidratio') return undefined;
  const ratio = argument === undefined || argument === '' ? 1 : Number(argument);
  if (!(ratio >= 0 && ratio <= 1)) {
    throw new InvalidOptionError('OTEL_TRACES_SAMPLER_ARG', `"${argument}" is not a number between 0 and 1`);
  }
  return new TraceIdRatioBasedSampler(ratio);
}
