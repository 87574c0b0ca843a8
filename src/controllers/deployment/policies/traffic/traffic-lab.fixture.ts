import type { DeploymentShape } from '../../../../testing/deployment-builder.js';
import { aDeployment } from '../../../../testing/deployment-builder.js';
import { P, PolicyLab, imageOf } from '../../../../testing/policy-lab.js';
import { Deployment, EndpointSlice } from '../../../../machinery/kubernetes/index.js';
import type { Pod } from '../../../../machinery/kubernetes/index.js';
import { Service } from '../../../../runtime/index.js';
import { POD_TEMPLATE_HASH } from '../../../shared/index.js';
import { createDeploymentController } from '../../definition.js';
import { GatewayWorld, bothServices } from './gateway-world.fixture.js';
import type { Route } from './route-part.js';
import { HTTPRoute } from './routes.js';

export { bothServices } from './gateway-world.fixture.js';
export const STEERING = createDeploymentController({ traffic: true });
export const WHOLE: DeploymentShape['strategy'] = {
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 },
};

type Rules = NonNullable<Route['spec']['rules']>;

export interface TrafficShape {
  readonly policies?: Record<string, string>;
  readonly replicas?: number;
  readonly rules?: Rules;
  /** @default none: they are made */
  readonly services?: readonly string[];
  /** Puts what else there is into the world, before the first sync. */
  readonly prepare?: (lab: TrafficLab) => void;
}

/** A Deployment behind a route, with a gateway that takes over what the route says, and endpoints. */
export class TrafficLab {
  /** Whether the gateway takes changes over. */
  isGatewayThere = true;
  /** Whether endpoints follow Services. */
  hasEndpoints = true;
  /** Called whenever something may have changed. */
  onChange: () => void = () => undefined;

  private readonly gateway: GatewayWorld;

  private constructor(readonly lab: PolicyLab) {
    this.gateway = new GatewayWorld(lab.world);
  }

  static async rolledOut(shape: TrafficShape = {}): Promise<TrafficLab> {
    const { policies = {}, replicas = 4, rules = [bothServices()], services = [] } = shape;
    const { template } = aDeployment().spec;
    const containers = [{ name: 'web', image: 'app:1', ports: [{ containerPort: 8080 }] }];
    let made: TrafficLab | undefined;
    const lab = await PolicyLab.rolledOut(
      { traffic: 'httproute/web', ...policies },
      { replicas, strategy: WHOLE, spec: { template: { ...template, spec: { containers } } } },
      {
        controller: STEERING,
        prepare: (prepared) => {
          made = new TrafficLab(prepared);
          made.putRoute(rules);
          for (const name of services) made.putService(name);
          shape.prepare?.(made);
        },
      },
    );
    const traffic = made ?? new TrafficLab(lab);
    await traffic.rest();
    return traffic;
  }

  /** Another Deployment whose pods have the same labels. */
  putDeployment(name: string): void {
    const deployment = aDeployment();
    const metadata = { ...deployment.metadata, name, uid: `uid-of-${name}` };
    this.lab.world.api.seed<Deployment>(Deployment, { ...deployment, metadata });
  }

  putRoute(rules: Rules, name?: string, namespace?: string): void {
    this.gateway.putRoute(rules, name, namespace);
    this.serveRoutes();
  }

  putService(name: string, selector: Record<string, string> = { app: 'web' }): void {
    const metadata = { namespace: 'default', name, uid: `uid-of-${name}` };
    this.lab.world.api.seed<Service>(Service, {
      ...{ apiVersion: 'v1', kind: 'Service', metadata },
      spec: { selector, ports: [{ port: 80 }] },
    });
  }

  async deleteService(name: string): Promise<void> {
    await this.lab.world.api.delete(Service, { namespace: 'default', name });
  }

  /** No pod behind a Service is ready, as far as its endpoints say. */
  emptyEndpoints(name: string): void {
    const slices = this.lab.world.api.all<EndpointSlice>(EndpointSlice);
    const slice = slices.find(({ metadata }) => metadata.name === name);
    if (slice) this.lab.world.api.seed<EndpointSlice>(EndpointSlice, { ...slice, endpoints: [] });
  }

  get routes(): Route[] {
    return this.gateway.routes;
  }

  /** The weights of a rule, in their order. */
  weights(rule?: number, route?: string): readonly (number | undefined)[] {
    return this.gateway.weights(rule, route);
  }

  /** Another hand writes weights. */
  edit(stable: number, canary: number): void {
    const [route] = this.routes;
    if (!route) return;
    const { generation = 0, ...metadata } = route.metadata;
    const [first, ...others] = route.spec.rules ?? [];
    const [one, other, ...more] = first?.backendRefs ?? [];
    if (!one || !other) return;
    const backendRefs = [{ ...one, weight: stable }, { ...other, weight: canary }, ...more];
    this.lab.world.api.seed<Route>(HTTPRoute, {
      ...route,
      metadata: { ...metadata, generation: generation + 1 },
      spec: { ...route.spec, rules: [{ ...first, backendRefs }, ...others] },
    });
  }

  service(name: string): Service | undefined {
    return this.gateway.service(name);
  }

  /** The images of the pods that a Service selects. */
  served(name: string): string {
    return [...new Set(this.podsBehind(name).map((pod) => pod.spec.containers[0]?.image ?? ''))].join(',');
  }

  podsBehind(name: string): readonly Pod[] {
    return this.gateway.podsBehind(name);
  }

  /** The image that a Service selects alone. */
  selected(name: string): string | undefined {
    const hash = this.service(name)?.spec.selector?.[POD_TEMPLATE_HASH];
    const set = this.lab.world.replicaSets.find(
      ({ metadata }) => hash !== undefined && metadata.labels?.[POD_TEMPLATE_HASH] === hash,
    );
    return set && imageOf(set);
  }

  /** The gateway takes over what the routes say. */
  serveRoutes(): void {
    if (this.isGatewayThere) this.gateway.serveRoutes();
  }

  /** Gateway, endpoints and pods follow the controller. */
  async follow(): Promise<void> {
    this.serveRoutes();
    if (this.hasEndpoints) this.gateway.fillEndpoints();
    await this.lab.world.settle();
    this.onChange();
  }

  /** All do what there is to do, until nothing changes. */
  async rest(): Promise<void> {
    for (let before = -1; before !== this.lab.world.api.changes;) {
      before = this.lab.world.api.changes;
      await this.lab.world.sync();
      await this.follow();
    }
  }

  async image(image: string): Promise<void> {
    await this.lab.image(image);
    await this.rest();
  }

  async annotate(name: string, value: string | undefined): Promise<void> {
    await this.lab.annotate(name, value);
    await this.rest();
  }

  /** Time passes in steps of a second, with all that follows from it. */
  async seconds(count: number): Promise<void> {
    for (let second = 0; second < count; second++) {
      this.lab.clock.move(1000);
      await this.rest();
    }
  }

  note(image: string): unknown {
    const text = this.lab.replicaSet(image).metadata.annotations?.[`${P}weight`];
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }
}
