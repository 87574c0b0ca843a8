import { VERSION } from '../../base/version.js';
import { createHttpApiClient, loadKubeconfig } from '../api-client/index.js';
import type { Metrics } from '../telemetry/index.js';
import { createApiClientMetrics } from '../telemetry/index.js';
import { ControllerManager } from './controller-manager.js';
import type { CompiledManagerOptions, CreateManagerOptions } from './create-manager.options.js';
import { compileManagerOptions } from './create-manager.options.js';

/**
 * Puts a manager together: an API client, caches, queues, leader election, health, metrics and traces, for the controllers that
 * are then added to it. Nothing connects or runs before {@link ControllerManager.run}.
 * @throws InvalidOptionError naming the option, or the field of the kubeconfig
 */
export async function createManager(options: CreateManagerOptions): Promise<ControllerManager> {
  const compiled = compileManagerOptions(options);
  const { identity, name } = compiled;
  const coordination =
    options.coordination ?? (await redisParts()).redisCoordination(compiled.redisUrl ?? '');
  const extensions = (options.extensions ?? []).map((make) => make(compiled));
  const metrics = options.metrics ?? (await openTelemetry()).createProcessMetrics();
  const connected = options.client ? { client: options.client } : await connect(compiled, metrics);
  const tracing =
    options.tracing ??
    (await openTelemetry()).startTracing({
      serviceName: name,
      instance: identity,
      version: VERSION,
      env: process.env,
      processors: extensions.flatMap(({ spanProcessors = [] }) => spanProcessors),
    });
  const closings = [
    ...('close' in connected ? [() => connected.close()] : []),
    ...(options.metrics ? [] : [() => metrics.shutdown()]),
    ...(options.tracing ? [] : [() => tracing.shutdown()]),
  ];
  return new ControllerManager({
    ...compiled,
    client: connected.client,
    closings,
    extensions,
    coordination,
    metrics,
    tracing,
  });
}

/** Loaded by those who need them. */
const redisParts = () => import('./redis-coordination.js');
const openTelemetry = () => import('../opentelemetry.js');

async function connect(options: CompiledManagerOptions, { meter }: Metrics) {
  const { clock, context, kubeconfig, logger, name, random } = options;
  const client = createHttpApiClient({
    connection: await loadKubeconfig({ path: kubeconfig, context, clock }),
    userAgent: `${name} rollkeeper/${VERSION}`,
    clock,
    random,
    logger,
    metrics: createApiClientMetrics(meter),
  });
  return { client, close: () => client.close() };
}
