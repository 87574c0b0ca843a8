import { Controller, Get, Inject, NotFoundException, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Explanation } from '../explain/index.js';
import { userOf } from './access.middleware.js';
import { AdminPorts } from './admin-ports.js';
import { CallerClient } from './caller-client.js';
import { CallerSights } from './caller-sights.js';
import { ExplainSource } from './explain-source.js';
import { seenOf } from './seen-events.js';
import { deploymentCaches, findDeployment, isFilling, stillListing } from './find-deployment.js';

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
export class ExplainController {
  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(ExplainSource) private readonly source: ExplainSource,
    @Inject(CallerClient) private readonly callers: CallerClient,
    @Inject(CallerSights) private readonly sights: CallerSights,
  ) {}

  @Get('explain/deployments/:namespace/:name')
  async explain(
    @Param('namespace') namespace: string,
    @Param('name') name: string,
    @Query('api') api: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Explanation> {
    if (userOf(response) !== undefined)
      await this.sights.assertSees(this.callers.of(request, response), namespace);
    const { caches, key } = findDeployment(this.ports, { namespace, name, api });
    const explanation = await this.source.explain(caches, key);
    if (!explanation) throw new NotFoundException({ error: `no Deployment ${key}` });
    return explanation;
  }

  @Get('deployments')
  async deployments(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<readonly DeploymentGlance[]> {
    const all = this.glances();
    if (userOf(response) === undefined) return all;
    const sight = this.sights.of(this.callers.of(request, response));
    return seenOf(sight, all, ({ name, namespace }) => `${namespace}/${name}`);
  }

  private glances(): readonly DeploymentGlance[] {
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
