import type { ApiClient, Clock, Informer, KubernetesObject, Logger, Pod, RandomSource } from 'rollkeeper';
import { InformerFactory, Pod as PodKind, Service, keyOf } from 'rollkeeper';
import type { Attachment, Problem } from './attach-route.ts';
import { attach } from './attach-route.ts';
import { EndpointSlice, GRPCRoute, Gateway, GatewayClass, HTTPRoute } from './gateway-api.ts';
import { asHttpRoute } from './grpc-route.ts';
import type { PodServers } from './pod-servers.ts';
import { Proxy } from './proxy.ts';
import type { BackendSources } from './resolve-backends.ts';
import { backendRefsOf, resolveBackend } from './resolve-backends.ts';
import { RouteTable, isAttached } from './route-table.ts';
import { classStatus, gatewayStatus, routeStatus } from './route-status.ts';
import { StatusWriter } from './status-writer.ts';

/** GatewayClasses of this controller are ours, unless another name is given. */
export const CONTROLLER_NAME = 'example.com/small-gateway';
const SLICES_OF_SERVICE = 'slices-of-service';
const NOTHING: RouteTable = new RouteTable([], { service: () => undefined, slices: () => [] });

export interface SmallGatewayOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly pods: PodServers;
  /** @default {@link CONTROLLER_NAME} */
  readonly controllerName?: string;
  /** The port of the proxy on 127.0.0.1. @default any */
  readonly port?: number;
  /** The namespaces that it follows. @default all */
  readonly namespaces?: readonly string[];
}

interface Caches {
  readonly classes: Informer<GatewayClass>;
  readonly gateways: Informer<Gateway>;
  readonly routes: Informer<HTTPRoute>;
  readonly grpcRoutes: Informer<GRPCRoute>;
  readonly services: Informer<Service>;
  readonly slices: Informer<EndpointSlice>;
}

/**
 * An implementation of the Gateway API, small enough for a laptop and for tests: it follows Gateways, HTTPRoutes, GRPCRoutes,
 * Services and EndpointSlices by watch, answers HTTP on one port for all Gateways of its classes, and writes their status.
 * It knows weights, matches of paths, headers, query parameters and methods, changes of headers, copies of requests and
 * timeouts. It knows no TLS, no redirects, no rewrites, and no ReferenceGrants.
 */
export class SmallGateway {
  private readonly options: SmallGatewayOptions;
  private readonly proxy: Proxy;
  private readonly statuses: StatusWriter;
  private readonly refusals = new Map<string, Problem>();
  /** The newest state of each route that was not refused. */
  private readonly lastAccepted = new Map<string, HTTPRoute>();
  private table = NOTHING;
  private listensOn = 0;
  private controlPlane: { readonly stopper: AbortController; readonly caches: Caches } | undefined;
  private stopped: Promise<void> = Promise.resolve();
  private isPlanned = false;
  private problem: Problem | undefined;

  constructor(options: SmallGatewayOptions) {
    this.options = options;
    const { client, clock, logger, pods, random } = options;
    this.statuses = new StatusWriter({ client, clock, logger, onFailure: () => this.plan() });
    this.proxy = new Proxy({
      random,
      table: () => this.table,
      dial: (endpoint) => pods.addressOf(endpoint),
    });
  }

  /** The port on which it answers. */
  get port(): number {
    return this.listensOn;
  }

  /** Listens, and follows the objects; resolves once it knows all of them. */
  async start(): Promise<void> {
    this.listensOn = await this.proxy.listen(this.options.port);
    await this.comeBack();
  }

  async stop(): Promise<void> {
    await this.goAway();
    await this.proxy.close();
  }

  /** Its control plane stops: no change is seen, no status written. Requests are answered by what it knows. */
  async goAway(): Promise<void> {
    this.controlPlane?.stopper.abort();
    this.controlPlane = undefined;
    await this.stopped;
    await this.statuses.idle();
  }

  /** Its control plane starts again. */
  async comeBack(): Promise<void> {
    const stopper = new AbortController();
    const { client, clock, logger, namespaces, pods, random } = this.options;
    // Without trims: a cache of pods would leave out their images.
    const factory = new InformerFactory({ client, clock, logger, namespaces, random, trims: new Map() });
    const caches: Caches = {
      classes: factory.informerFor<GatewayClass>(GatewayClass),
      gateways: factory.informerFor<Gateway>(Gateway),
      routes: factory.informerFor<HTTPRoute>(HTTPRoute),
      grpcRoutes: factory.informerFor<GRPCRoute>(GRPCRoute),
      services: factory.informerFor<Service>(Service),
      slices: factory.informerFor<EndpointSlice>(EndpointSlice),
    };
    caches.slices.addIndex(SLICES_OF_SERVICE, ({ metadata: { labels = {}, namespace } }) => [
      `${namespace}/${labels['kubernetes.io/service-name']}`,
    ]);
    pods.follow(factory.informerFor<Pod>(PodKind));
    this.stopped = factory.run(stopper.signal);
    await factory.waitForSync(stopper.signal);
    this.controlPlane = { stopper, caches };
    for (const informer of Object.values(caches) as Informer[]) informer.addEventHandler(() => this.plan());
    this.plan();
  }

  /** Its status says False for this route, `namespace/name`, and what was last accepted stays in effect. */
  refuse(route: string, problem: Problem): void {
    this.refusals.set(route, problem);
    this.plan();
  }

  accept(route: string): void {
    this.refusals.delete(route);
    this.plan();
  }

  /** The condition Programmed of its Gateways says False, or True again without a problem. */
  unprogram(problem: Problem | undefined): void {
    this.problem = problem;
    this.plan();
  }

  /** Many events come at once, and one look at the caches is enough for them. */
  private plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    queueMicrotask(() => {
      this.isPlanned = false;
      if (this.controlPlane) this.follow(this.controlPlane.caches);
    });
  }

  private follow(caches: Caches): void {
    const { clock, controllerName = CONTROLLER_NAME, pods } = this.options;
    const writer = { clock, controllerName };
    const classes = all(caches.classes).filter(({ spec }) => spec.controllerName === controllerName);
    const names = new Set(classes.map(({ metadata }) => metadata.name));
    const gateways = all(caches.gateways).filter(({ spec }) => names.has(spec.gatewayClassName));
    const sources = sourcesOf(caches);
    const attached = all(caches.routes).map((route) => this.attach(route, gateways));
    const calls = all(caches.grpcRoutes).map((route) => ({
      ...this.attach(asHttpRoute(route), gateways, 'grpc/'),
      call: route,
    }));
    this.table = new RouteTable(
      [...attached, ...calls].flatMap(({ inEffect }) => inEffect ?? []),
      sources,
    );
    pods.routedTo(this.table.pods);
    for (const each of classes) this.statuses.write(GatewayClass, each, classStatus(each, writer));
    for (const gateway of gateways) {
      const state = {
        address: '127.0.0.1',
        attached: countOf([...attached, ...calls]),
        problem: this.problem,
      };
      this.statuses.write(Gateway, gateway, gatewayStatus(gateway, state, writer));
    }
    for (const { attachments, route } of attached) {
      if (attachments.length === 0 && !route.status?.parents) continue;
      const status = routeStatus(route, attachments, unresolvedOf(route, sources), writer);
      this.statuses.write(HTTPRoute, route, status);
    }
    for (const { attachments, call, route } of calls)
      if (attachments.length > 0 || call.status?.parents) {
        const status = routeStatus(route, attachments, unresolvedOf(route, sources), writer);
        this.statuses.write(GRPCRoute, call, status);
      }
  }

  private attach(route: HTTPRoute, gateways: readonly Gateway[], prefix = ''): AttachedRoute {
    const key = `${prefix}${keyOf(route.metadata)}`;
    const problem = this.refusals.get(key);
    const attachments = attach(route, gateways).map((each) => (problem ? { ...each, problem } : each));
    if (!problem && isAttached(attachments)) this.lastAccepted.set(key, route);
    else if (!problem) this.lastAccepted.delete(key);
    return { route, attachments, inEffect: this.lastAccepted.get(key) };
  }
}

interface AttachedRoute {
  readonly route: HTTPRoute;
  readonly attachments: readonly Attachment[];
  /** The state of the route by which requests are answered. */
  readonly inEffect: HTTPRoute | undefined;
}

function all<T extends KubernetesObject>(informer: Informer<T>): readonly T[] {
  return informer.lister.list() as readonly T[];
}

function sourcesOf({ services, slices }: Caches): BackendSources {
  return {
    service: (key) => services.lister.get(key) as Service | undefined,
    slices: (key) => slices.lister.byIndex(SLICES_OF_SERVICE, key) as readonly EndpointSlice[],
  };
}

function unresolvedOf(route: HTTPRoute, sources: BackendSources): Problem | undefined {
  return backendRefsOf(route)
    .map((ref) => resolveBackend(route, ref, sources).problem)
    .find((problem) => problem);
}

function countOf(routes: readonly AttachedRoute[]): (gateway: Gateway, listener: string) => number {
  return (gateway, listener) =>
    routes
      .flatMap(({ attachments }) => attachments)
      .filter(
        ({ gateway: parent, listeners }) =>
          keyOf(parent.metadata) === keyOf(gateway.metadata) && has(listeners, listener),
      ).length;
}

function has(listeners: Attachment['listeners'], name: string): boolean {
  return listeners.some((listener) => listener.name === name);
}
