import type { ApiClient, Clock, Logger, RandomSource } from 'rollkeeper';
import { SmallGateway } from './gateway/gateway.ts';
import type { PodServersOptions } from './gateway/pod-servers.ts';
import { PodServers } from './gateway/pod-servers.ts';
import { ConstantLoad } from './load/constant-load.ts';

export interface TrafficOptions extends Omit<PodServersOptions, 'clock'> {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** @default 200 */
  readonly ratePerSecond?: number;
  /** The gateway and the pods follow objects of these namespaces. @default all */
  readonly namespaces?: readonly string[];
  /** The host that the requests are for. @default 127.0.0.1 */
  readonly host?: string;
}

/** Pods that answer, the gateway before them, and its clients. */
export class Traffic {
  readonly pods: PodServers;
  readonly gateway: SmallGateway;
  readonly load: ConstantLoad;

  private constructor(pods: PodServers, gateway: SmallGateway, load: ConstantLoad) {
    this.pods = pods;
    this.gateway = gateway;
    this.load = load;
  }

  /** Everything but the requests: {@link ConstantLoad.start} begins to send them. */
  static async start({ host, ratePerSecond, ...options }: TrafficOptions): Promise<Traffic> {
    const pods = new PodServers(options);
    const gateway = new SmallGateway({ ...options, pods });
    await gateway.start();
    const headers = host === undefined ? undefined : { host };
    const load = new ConstantLoad({ clock: options.clock, headers, port: gateway.port, ratePerSecond });
    return new Traffic(pods, gateway, load);
  }

  async stop(): Promise<void> {
    await this.load.stop();
    await this.gateway.stop();
    await this.pods.stop();
  }
}
