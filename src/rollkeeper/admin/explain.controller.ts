import { Controller, Get, Inject, NotFoundException, Param, Query } from '@nestjs/common';
import type { Explanation } from '../explain/index.js';
import { AdminPorts } from './admin-ports.js';
import { ExplainSource } from './explain-source.js';
import { deploymentCaches, findDeployment, isFilling, stillListing } from './find-deployment.js';

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
    const { caches, key } = findDeployment(this.ports, { namespace, name, api });
    const explanation = await this.source.explain(caches, key);
    if (!explanation) throw new NotFoundException({ error: `no Deployment ${key}` });
    return explanation;
  }

  @Get('deployments')
  deployments(): (Pick<Explanation, 'namespace' | 'name' | 'state' | 'cause' | 'sentence'> & {
    apiVersion: string;
  })[] {
    const known = deploymentCaches(this.ports);
    if (known.some(isFilling)) throw stillListing();
    return known.flatMap((caches) =>
      caches.deployments.lister.list().map((deployment) => {
        const { cause, name, namespace, sentence, state } = this.source.glance(caches, deployment);
        return { apiVersion: caches.apiVersion, namespace, name, state, cause, sentence };
      }),
    );
  }
}
