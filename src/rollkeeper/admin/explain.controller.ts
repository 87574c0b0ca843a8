import {
  Controller,
  Get,
  HttpStatus,
  Inject,
  NotFoundException,
  Param,
  Query,
  ServiceUnavailableException,
} from '@nestjs/common';
import type { Explanation } from '../explain/index.js';
import type { DeploymentCaches } from './admin-ports.js';
import { AdminPorts } from './admin-ports.js';
import { ExplainSource } from './explain-source.js';
import { parseName } from './request-parsing.js';

/** Explains the state of rollouts. */
@Controller('admin')
export class ExplainController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(ExplainSource) private readonly source: ExplainSource,
  ) {}

  @Get('explain/deployments/:namespace/:name')
  async explain(
    @Param('namespace') namespace: string,
    @Param('name') name: string,
    @Query('api') api?: unknown,
  ): Promise<Explanation> {
    const key = `${parseName(namespace, 'namespace')}/${parseName(name, 'name')}`;
    const asked = this.caches().filter(({ apiVersion }) => api === undefined || api === apiVersion);
    for (const caches of asked) {
      if (isFilling(caches)) throw stillListing();
      const explanation = await this.source.explain(caches, key);
      if (explanation) return explanation;
    }
    throw new NotFoundException({ error: `no Deployment ${key}` });
  }

  @Get('deployments')
  deployments(): (Pick<Explanation, 'namespace' | 'name' | 'state' | 'cause' | 'sentence'> & {
    apiVersion: string;
  })[] {
    const known = this.caches();
    if (known.some(isFilling)) throw stillListing();
    return known.flatMap((caches) =>
      caches.deployments.lister.list().map((deployment) => {
        const { cause, name, namespace, sentence, state } = this.source.glance(caches, deployment);
        return { apiVersion: caches.apiVersion, namespace, name, state, cause, sentence };
      }),
    );
  }

  private caches(): readonly DeploymentCaches[] {
    const caches = this.ports.caches();
    if (caches.length === 0)
      throw new ServiceUnavailableException({ error: 'this replica does not watch Deployments' });
    return caches;
  }
}

/** A type that is not served, or that this replica may not list, will never have a list. */
const NO_LIST: readonly (number | undefined)[] = [HttpStatus.NOT_FOUND, HttpStatus.FORBIDDEN];

/** Whether a first list is still in progress: an object that is not cached may exist. */
function isFilling({ deployments, replicaSets, pods }: DeploymentCaches): boolean {
  return [deployments, replicaSets, pods].some(
    ({ hasSynced, trouble }) => !hasSynced && !NO_LIST.includes(trouble?.code),
  );
}

function stillListing(): ServiceUnavailableException {
  return new ServiceUnavailableException({
    error:
      'this replica has not listed all Deployments, ReplicaSets and Pods yet; ask again, or ask another replica',
  });
}
