import { InvalidOptionError, errorCode, errorMessage } from '@rollkeeper/machinery/errors';
import { VERSION } from '@rollkeeper/machinery/version';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { createHttpApiClient, loadKubeconfig } from '@rollkeeper/client/api-client';
import type { Metrics } from '../../telemetry/index.js';
import { createApiClientMetrics } from '../../telemetry/index.js';
import { ControllerManager } from './controller-manager.js';
import type { CoordinationFactory } from '../coordination/coordination.js';
import type { CompiledManagerOptions, CreateManagerOptions } from './create-manager.options.js';
import { compileManagerOptions } from './create-manager.options.js';
import { leaseCoordination } from '../coordination/lease-coordination.js';
import { memoryCoordination } from '../coordination/memory-coordination.js';

/**
 * Creates a manager: an API client, caches, queues, leader election, health, metrics and traces, for the controllers
 * that are then added to it. Nothing connects or runs before {@link ControllerManager.run}.
 * @throws InvalidOptionError naming the option, or the field of the kubeconfig
 */
export async function createManager(options: CreateManagerOptions): Promise<ControllerManager> {
  const compiled = compileManagerOptions(options);
  const { identity, name } = compiled;
  const extensions = (options.extensions ?? []).map((make) => make(compiled));
  const metrics = options.metrics ?? (await processMetrics()).createProcessMetrics();
  // A package that is missing is named before anything is connected.
  const coordinationWith = await coordinationOf(compiled);
  const connected = options.client ? { client: options.client } : await connect(compiled, metrics);
  const coordination = coordinationWith(connected.client);
  const tracing =
    options.tracing ??
    (await (
      await neededTracing()
    ).startNeededTracing({
      serviceName: name,
      instance: identity,
      version: VERSION,
      env: process.env,
      processors: extensions.flatMap(({ spanProcessors = [] }) => spanProcessors),
    }));
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

async function coordinationOf({
  clock,
  coordination,
  mode,
  place,
  redisUrl = '',
}: CompiledManagerOptions): Promise<(client: ApiClient) => CoordinationFactory> {
  if (typeof coordination === 'function') return () => coordination;
  if (mode === 'local') return () => memoryCoordination(clock);
  const { name, namespace } = place;
  if (mode === 'leases') return (client) => leaseCoordination({ client, clock, name, namespace });
  const { redisCoordination } = await redisParts();
  return () => redisCoordination(redisUrl);
}

// Bundlers leave an import of what is not installed for the run time only if its failure is handled right there.
const redisParts = () =>
  ofPackage('coordination', '@rollkeeper/redis', () =>
    import('@rollkeeper/redis/operator/redis-coordination').catch(rethrow),
  );
// Each by itself, since either may be given, and spans are rarely sent.
const processMetrics = () =>
  ofPackage('metrics, tracing', '@rollkeeper/opentelemetry', () =>
    import('@rollkeeper/opentelemetry/process-metrics').catch(rethrow),
  );
const neededTracing = () =>
  ofPackage('metrics, tracing', '@rollkeeper/opentelemetry', () =>
    import('@rollkeeper/opentelemetry/needed-tracing').catch(rethrow),
  );

function rethrow(error: unknown): never {
  throw error;
}

/**
 * Loads the default for options that were not given.
 * @throws InvalidOptionError naming the options and the package, if it is not installed
 */
async function ofPackage<T>(options: string, name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND' || !errorMessage(error).includes(`'${name}'`))
      throw error;
    throw new InvalidOptionError(options, `needs the package ${name} where it is not given; install it`);
  }
}

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
