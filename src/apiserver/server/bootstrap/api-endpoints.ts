import { isIP } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { pause } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { cloneJson, isJsonObject, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { updateObject } from '../../objects/registry/index.js';
import type { RegistryContext } from '../../objects/registry/index.js';
import { ensureObject, unlessRefused } from './ensure-object.js';

/** The addresses of this machine, as `networkInterfaces()` of node:os lists them. */
export type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** As the genuine server looks after its own. */
const INTERVAL_MS = 10_000;
const METADATA = { name: 'kubernetes', namespace: 'default' };

/**
 * The address under which the `kubernetes` Service leads to this server: that on which it listens, or, where that is
 * loopback or any address, the first of the machine. Endpoints cannot have a loopback address, as that is every machine's own.
 * @returns undefined for a machine without a network
 */
export function advertisedAddress(url: string, interfaces: Interfaces): string | undefined {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isOwn(host)) return host;
  const addresses = Object.values(interfaces).flatMap((list) => list ?? []);
  const external = addresses.filter(
    ({ address, internal }) => !internal && !/^(fe80|169\.254\.)/i.test(address),
  );
  return (external.find(({ family }) => family === 'IPv4') ?? external[0])?.address;
}

function isOwn(host: string): boolean {
  return host.startsWith('127.') || host === '::1' || host === '0.0.0.0' || host === '::';
}

/** Keeps the Endpoints and the EndpointSlice of the `kubernetes` Service, as long as the server runs. */
export class ApiEndpoints {
  private readonly objects: readonly UnstructuredObject[];
  /** The kinds that still name what an earlier server on the same address has left, as the write was refused. */
  private readonly refused = new Set<string>();

  constructor(
    private readonly context: RegistryContext,
    url: string,
    interfaces: Interfaces,
  ) {
    const ip = advertisedAddress(url, interfaces);
    this.objects = ip === undefined ? [] : objectsFor(ip, Number(new URL(url).port));
  }

  /**
   * Creates what is missing, and adds this server where only others are named.
   * @param isStart replaces what an earlier server on the same address has left. A refused write is made again by {@link run}.
   */
  async ensure({ isStart = false } = {}): Promise<void> {
    for (const wanted of this.objects) {
      const isFirst = isStart || this.refused.has(wanted.kind);
      const isDone = await unlessRefused(this.context, wanted, () => this.ensureOne(wanted, isFirst));
      if (isDone) this.refused.delete(wanted.kind);
      else if (isFirst) this.refused.add(wanted.kind);
    }
  }

  private async ensureOne(wanted: Readonly<UnstructuredObject>, isStart: boolean): Promise<true> {
    const existing = await ensureObject(this.context, wanted);
    if (existing && !sameJson(existing, withServer(existing, wanted, isStart)))
      await this.repair(wanted, isStart);
    return true;
  }

  /** Looks at them every ten seconds, until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.context;
    while (await pause(clock, INTERVAL_MS, signal))
      await this.ensure().catch((error: unknown) =>
        logger.warn('the endpoints of the API server could not be kept, trying again later', {
          error: errorMessage(error),
        }),
      );
  }

  private async repair(wanted: Readonly<UnstructuredObject>, isStart: boolean): Promise<void> {
    const kind = this.context.kinds.findByKind(wanted.apiVersion, wanted.kind);
    if (!kind) return;
    const target = { kind, namespace: METADATA.namespace, name: METADATA.name };
    const tryUpdate = (current: Readonly<UnstructuredObject>): UnstructuredObject =>
      withServer(current, wanted, isStart);
    await updateObject(this.context, target, tryUpdate, { dryRun: false, subresource: '' });
  }
}

/** The parts that name servers: in Endpoints, ports are beside their addresses. */
const PARTS = ['subsets', 'endpoints', 'ports'] as const;

/** The object with the labels and the server of the wanted one. */
function withServer(
  existing: Readonly<UnstructuredObject>,
  wanted: Readonly<UnstructuredObject>,
  isStart: boolean,
): UnstructuredObject {
  const made: UnstructuredObject = cloneJson(existing);
  made.metadata.labels = { ...made.metadata.labels, ...wanted.metadata.labels };
  for (const part of PARTS) {
    const items: unknown = wanted[part];
    if (!isList(items)) continue;
    const before: unknown = made[part];
    const there = isList(before) ? before : [];
    if (includes(there, items)) continue;
    const others = isStart ? there.filter((item) => !isSameAddress(item, items)) : there;
    made[part] = [...(isStart && part === 'ports' ? [] : others), ...items];
  }
  return made;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isSameAddress(item: unknown, wanted: readonly unknown[]): boolean {
  return wanted.some(
    (other) => isJsonObject(item) && isJsonObject(other) && covers(item.addresses, other.addresses),
  );
}

/** Whether each item of one list is in another, as far as the first one says something of it. */
function includes(list: unknown, items: unknown): boolean {
  return (
    Array.isArray(list) &&
    Array.isArray(items) &&
    items.every((item: unknown) => list.some((other: unknown) => covers(other, item)))
  );
}

function covers(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) return includes(value, wanted);
  if (!isJsonObject(wanted)) return value === wanted;
  return isJsonObject(value) && Object.entries(wanted).every(([key, part]) => covers(value[key], part));
}

function objectsFor(ip: string, port: number): UnstructuredObject[] {
  const ports = [{ name: 'https', port, protocol: 'TCP' }];
  return [
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { ...METADATA, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip }], ports }],
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...METADATA, labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: isIP(ip) === 6 ? 'IPv6' : 'IPv4',
      endpoints: [{ addresses: [ip], conditions: { ready: true } }],
      ports,
    },
  ];
}
