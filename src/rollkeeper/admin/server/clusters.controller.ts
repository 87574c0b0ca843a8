import {
  BadRequestException,
  Controller,
  Get,
  Header,
  Headers,
  Inject,
  NotFoundException,
  Param,
  UnauthorizedException,
} from '@nestjs/common';
import type { OnModuleDestroy } from '@nestjs/common';
import type { ClusterAnswer, ClusterHealth, ConsoleCluster, OtherClusters } from '../clusters/index.js';
import { isSession } from '../sign-in/index.js';
import { AdminPorts } from './admin-ports.js';
import { Shows } from './route-sight.js';

/** The session of the other cluster; `Authorization` is that of this one. */
const SESSION_HEADER = 'x-rollkeeper-cluster-session';
const TICKET_HEADER = 'x-rollkeeper-cluster-ticket';

/** A cluster in the menu. */
type ListedCluster = ConsoleCluster & ClusterHealth & { /** This one. */ readonly isHere: boolean };

interface ClusterList {
  readonly clusters: readonly ListedCluster[];
}

/**
 * The other clusters of a person: where their consoles are, how they are, and what is wrong there as far as each of them shows
 * it to the person. This server adds no rights of its own: see `OtherClusters`.
 */
@Controller('admin/clusters')
@Shows('caller')
export class ClustersController implements OnModuleDestroy {
  constructor(@Inject(AdminPorts) private readonly ports: AdminPorts) {}

  async onModuleDestroy(): Promise<void> {
    await this.ports.clusters?.close();
  }

  @Get()
  async list(): Promise<ClusterList> {
    const { clusters, consoleUrl } = this.ports;
    const listed = (clusters?.list ?? []).map(async (cluster): Promise<ListedCluster> => {
      const isHere = cluster.url === consoleUrl;
      const health = isHere ? ({ health: 'well' } as const) : await clusters?.health(cluster);
      return { ...cluster, ...(health ?? { health: 'away', why: '' }), isHere };
    });
    return { clusters: await Promise.all(listed) };
  }

  /** Answers of the other cluster are in the body: a refusal there is none here. */
  @Get(':name/problems')
  @Header('Cache-Control', 'no-store')
  async problems(
    @Param('name') name: string,
    @Headers(SESSION_HEADER) session: string | undefined,
  ): Promise<ClusterAnswer<unknown>> {
    const { cluster, clusters } = this.named(name);
    if (session === undefined || !isSession(session))
      throw new UnauthorizedException({ error: `${SESSION_HEADER} must be a session of ${cluster.name}` });
    return clusters.problems(cluster, session);
  }

  /** Exchanges the ticket that the other console has sent the browser back with. Changes nothing here, so readers may. */
  @Get(':name/session')
  @Header('Cache-Control', 'no-store')
  async takeOver(
    @Param('name') name: string,
    @Headers(TICKET_HEADER) ticket: string | undefined,
  ): Promise<ClusterAnswer<unknown>> {
    const { cluster, clusters } = this.named(name);
    if (ticket === undefined || ticket === '')
      throw new BadRequestException({ error: `${TICKET_HEADER} must be a ticket of ${cluster.name}` });
    return clusters.takeOver(cluster, ticket);
  }

  /** @throws NotFoundException */
  private named(name: string): { readonly cluster: ConsoleCluster; readonly clusters: OtherClusters } {
    const { clusters } = this.ports;
    const cluster = clusters?.named(name);
    if (!clusters || !cluster)
      throw new NotFoundException({ error: `"${name.slice(0, 100)}" is not one of --console-clusters` });
    return { cluster, clusters };
  }
}
