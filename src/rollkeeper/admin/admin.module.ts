import type { DynamicModule, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import type { HealthRegistry } from '@rollkeeper/runtime/health';
import type { Metrics } from '@rollkeeper/runtime/telemetry';
import { HealthController } from './health.controller.js';
import { MetricsController, StatusController, OpenApiController } from './status.controller.js';
import type { AdminPorts } from './admin-ports.js';
import { ClusterView } from './cluster-view.js';
import { ClusterController } from './cluster.controller.js';
import { ConsoleFeed } from './console-feed.js';
import { ConsoleController } from './console.controller.js';
import { DebugController } from './debug.controller.js';
import { EventStreams } from './event-streams.js';
import { ExplainSource } from './explain-source.js';
import { ExplainController } from './explain.controller.js';
import { QueuesController } from './queues.controller.js';
import { StoreWatch } from './store-watch.js';
import { ZPagesController } from './z-pages.controller.js';
import type { StatusSource } from './status-source.js';
import {
  ADMIN_PORTS,
  CLUSTER_VIEW,
  CONSOLE_FEED,
  EVENT_STREAMS,
  EXPLAIN_SOURCE,
  HEALTH_REGISTRY,
  METRICS_SOURCE,
  STATUS_SOURCE,
  STORE_WATCH,
} from './tokens.js';

export interface AdminModuleOptions {
  readonly health: HealthRegistry;
  readonly metrics: Metrics;
  readonly status: StatusSource;
  readonly ports: AdminPorts;
}

/** The same, as tokens of providers that `imports` export. */
export interface AdminModuleAsyncOptions {
  readonly imports: NonNullable<DynamicModule['imports']>;
  readonly health: symbol;
  readonly metrics: symbol;
  readonly status: symbol;
  readonly ports: symbol;
}

/** The admin port's pages: health, metrics, status, the admin API, the console. */
@Module({})
export class AdminModule {
  static forRoot({ health, metrics, ports, status }: AdminModuleOptions): DynamicModule {
    return describeModule([
      { provide: HEALTH_REGISTRY, useValue: health },
      { provide: METRICS_SOURCE, useValue: metrics },
      { provide: STATUS_SOURCE, useValue: status },
      { provide: ADMIN_PORTS, useValue: ports },
    ]);
  }

  static forRootAsync({ health, imports, metrics, ports, status }: AdminModuleAsyncOptions): DynamicModule {
    const providers = [
      { provide: HEALTH_REGISTRY, useExisting: health },
      { provide: METRICS_SOURCE, useExisting: metrics },
      { provide: STATUS_SOURCE, useExisting: status },
      { provide: ADMIN_PORTS, useExisting: ports },
    ];
    return describeModule(providers, imports);
  }
}

const VIEWS: Provider[] = [
  { provide: EVENT_STREAMS, useFactory: () => new EventStreams() },
  {
    provide: STORE_WATCH,
    inject: [ADMIN_PORTS],
    useFactory: ({ clock, store }: AdminPorts) => new StoreWatch(store, clock),
  },
  {
    provide: CLUSTER_VIEW,
    inject: [ADMIN_PORTS, STORE_WATCH],
    useFactory: (ports: AdminPorts, store: StoreWatch) => new ClusterView(ports, store),
  },
  {
    provide: EXPLAIN_SOURCE,
    inject: [ADMIN_PORTS, CLUSTER_VIEW, STORE_WATCH],
    useFactory: (ports: AdminPorts, cluster: ClusterView, store: StoreWatch) =>
      new ExplainSource(ports, cluster, store),
  },
  {
    provide: CONSOLE_FEED,
    inject: [ADMIN_PORTS, CLUSTER_VIEW, EXPLAIN_SOURCE, STORE_WATCH],
    useFactory: (ports: AdminPorts, cluster: ClusterView, source: ExplainSource, store: StoreWatch) =>
      new ConsoleFeed(ports, cluster, source, store),
  },
];

function describeModule(
  providers: Provider[],
  imports: NonNullable<DynamicModule['imports']> = [],
): DynamicModule {
  return {
    module: AdminModule,
    imports: [TerminusModule.forRoot({ logger: false }), ...imports],
    controllers: [
      HealthController,
      MetricsController,
      StatusController,
      ClusterController,
      QueuesController,
      ExplainController,
      DebugController,
      ConsoleController,
      OpenApiController,
      ZPagesController,
    ],
    providers: [...providers, ...VIEWS],
  };
}
