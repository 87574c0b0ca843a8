import type { InjectionToken, Provider } from '@nestjs/common';
import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { HealthRegistry } from '@rollkeeper/runtime/health';
import type { Metrics } from '@rollkeeper/runtime/telemetry';
import { HealthController } from './health.controller.js';
import { MetricsController, StatusController, OpenApiController } from './status.controller.js';
import { ActsController } from './acts.controller.js';
import { AdminPorts } from './admin-ports.js';
import { BrowserSessions } from './browser-sessions.js';
import { CallerClient } from './caller-client.js';
import { CallerSights } from './caller-sights.js';
import { ClusterView } from './cluster-view.js';
import { ClusterController } from './cluster.controller.js';
import { ClustersController } from './clusters.controller.js';
import { ConsoleFeed } from './console-feed.js';
import { ConsoleController } from './console.controller.js';
import { DebugController } from './debug.controller.js';
import { EventStreams } from './event-streams.js';
import { ExplainSource } from './explain-source.js';
import { ExplainController } from './explain.controller.js';
import { ObjectsController } from './objects.controller.js';
import { PodLogController } from './pod-log.controller.js';
import { MetricsSource } from './metrics-source.js';
import { OidcSignInController } from './oidc-sign-in.controller.js';
import { OtherReplicas } from './other-replicas.js';
import { RolloutRequestsController } from './rollout-requests.controller.js';
import { RolloutsController } from './rollouts.controller.js';
import { ProblemsController } from './problems.controller.js';
import { QueuesController } from './queues.controller.js';
import { SightInterceptor } from './route-sight.js';
import { SignInController } from './sign-in.controller.js';
import { SlotReplicas } from './slot-replicas.js';
import { StoreWatch } from './store-watch.js';
import { ZPagesController } from './z-pages.controller.js';
import { StatusSource } from './status-source.js';

/** Dependencies of the admin pages. */
export interface AdminModuleOptions {
  readonly health: HealthRegistry;
  readonly metrics: Metrics;
  readonly status: StatusSource;
  readonly ports: AdminPorts;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<AdminModuleOptions>({
  moduleName: 'Admin',
})
  .setClassMethodName('forRoot')
  .build();

/** Makes one of the options injectable by its class. */
function fromOptions<Key extends keyof AdminModuleOptions>(provide: InjectionToken, key: Key): Provider {
  return {
    provide,
    inject: [MODULE_OPTIONS_TOKEN],
    useFactory: (options: AdminModuleOptions): AdminModuleOptions[Key] => options[key],
  };
}

/** The admin port's pages: health, metrics, status, the admin API, the console. */
@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [
    HealthController,
    MetricsController,
    StatusController,
    ClusterController,
    ClustersController,
    QueuesController,
    ExplainController,
    RolloutsController,
    RolloutRequestsController,
    ProblemsController,
    SignInController,
    OidcSignInController,
    ActsController,
    ObjectsController,
    PodLogController,
    DebugController,
    ConsoleController,
    OpenApiController,
    ZPagesController,
  ],
  providers: [
    fromOptions(HealthRegistry, 'health'),
    fromOptions(MetricsSource, 'metrics'),
    fromOptions(StatusSource, 'status'),
    fromOptions(AdminPorts, 'ports'),
    { provide: EventStreams, useFactory: () => new EventStreams() },
    StoreWatch,
    OtherReplicas,
    SlotReplicas,
    ClusterView,
    ExplainSource,
    BrowserSessions,
    CallerClient,
    CallerSights,
    ConsoleFeed,
    { provide: APP_INTERCEPTOR, useClass: SightInterceptor },
  ],
  exports: [AdminPorts],
})
export class AdminModule extends ConfigurableModuleClass {}
