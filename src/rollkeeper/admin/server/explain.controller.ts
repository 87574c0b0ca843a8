import { Controller, Get, Inject, NotFoundException, Param, Query } from '@nestjs/common';
import type { Explanation } from '../../insight/explain/index.js';
import { AdminPorts } from './admin-ports.js';
import { ExplainSource } from './explain-source.js';
import { deploymentCaches, findDeployment, isFilling, stillListing } from './find-deployment.js';
import { Shows } from './route-sight.js';

/** A Deployment in one sentence and some numbers. */
export interface DeploymentGlance extends Pick<
  Explanation,
  'namespace' | 'name' | 'state' | 'cause' | 'sentence' | 'counts'
> {
  readonly apiVersion: string;
  /** How many pods it asks for. */
  readonly wanted: number;
}

/** Explains the state of rollouts. */
@Controller('admin')
@Shows('namespace')
export class ExplainController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(ExplainSource) private readonly source: ExplainSource,
  ) {}

  @Get('explain/deployments/:namespace/:name')
  async explain(
    @Param('namespace') namespace: string,
    @Param('name') name: string,
    @Query('api') api: unknown,
  ): Promise<Explanation> {
    const { caches, key } = findDeployment(this.ports, { namespace, name, api });
    const explanation = await this.source.explain(caches, key);
    if (!explanation) throw new NotFoundException({ error: `no Deployment ${key}` });
    return explanation;
  }

  @Get('deployments')
  @Shows('keys')
  deployments(): readonly DeploymentGlance[] {
    const known = deploymentCaches(this.ports);
    if (known.some(isFilling)) throw stillListing();
    return known.flatMap((caches) =>
      caches.deployments.lister.list().map((deployment) => {
        const { apiVersion } = caches;
        const { cause, counts, name, namespace, sentence, state } = this.source.glance(caches, deployment);
        const wanted = deployment.spec.replicas ?? 1;
        return { apiVersion, namespace, name, state, cause, sentence, wanted, counts };
      }),
    );
  }
}
