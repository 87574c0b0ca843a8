import {
  Controller,
  Get,
  Inject,
  NotFoundException,
  Param,
  ServiceUnavailableException,
} from '@nestjs/common';
import type { Explanation } from '../explain/index.js';
import type { AdminPorts, DeploymentCaches } from './admin-ports.js';
import type { ExplainSource } from './explain-source.js';
import { parseName } from './request-parsing.js';
import { ADMIN_PORTS, EXPLAIN_SOURCE } from './tokens.js';

/** Why a rollout is where it is. */
@Controller('admin')
export class ExplainController {
  constructor(
    @Inject(ADMIN_PORTS) private readonly ports: AdminPorts,
    @Inject(EXPLAIN_SOURCE) private readonly source: ExplainSource,
  ) {}

  @Get('explain/deployments/:namespace/:name')
  async explain(@Param('namespace') namespace: string, @Param('name') name: string): Promise<Explanation> {
    const key = `${parseName(namespace, 'namespace')}/${parseName(name, 'name')}`;
    const explanation = await this.source.explain(this.caches(), key);
    if (!explanation) throw new NotFoundException({ error: `no Deployment ${key}` });
    return explanation;
  }

  @Get('deployments')
  deployments(): Pick<Explanation, 'namespace' | 'name' | 'state' | 'cause' | 'sentence'>[] {
    const caches = this.caches();
    return caches.deployments.lister.list().map((deployment) => {
      const { cause, name, namespace, sentence, state } = this.source.glance(caches, deployment);
      return { namespace, name, state, cause, sentence };
    });
  }

  private caches(): DeploymentCaches {
    const caches = this.ports.caches();
    if (!caches) throw new ServiceUnavailableException({ error: 'this replica does not watch Deployments' });
    return caches;
  }
}
