import { type Case, ORGANIZATION, PROJECT, refuses, accepts } from './case.ts';

export const scopes = (): Case[] => {
  const [projects, organizations] = [[PROJECT], [ORGANIZATION]];
  const foreign = { projectId: 'prj_000000000002', organizationId: 'org_000000000002' };
  return [
    accepts(
      'project',
      { key: { projects }, statement: { projectId: PROJECT } },
      'Scope',
      'the project of the key',
    ),
    refuses(
      'project-other',
      { key: { projects }, statement: foreign },
      'Scope',
      'another project',
      'trust.PROJECT_MISMATCH',
    ),
    accepts(
      'project-several',
      { key: { projects: [PROJECT, 'prj_000000000002'] }, statement: foreign },
      'Scope',
      'one of several projects',
    ),
    accepts('project-any', { statement: foreign }, 'Scope', 'a key without limits'),
    refuses(
      'project-prefix',
      { key: { projects }, statement: { projectId: `${PROJECT}0` } },
      'Scope',
      'a project that begins like it',
      'trust.PROJECT_MISMATCH',
    ),
    accepts(
      'project-unknown',
      { key: { projects }, unchecked: ['project'] },
      'Scope',
      'the project of the evidence is unknown: not passed, and not failed',
    ),
    accepts(
      'organization',
      { key: { organizations }, statement: { organizationId: ORGANIZATION } },
      'Scope',
      'the organization of the key',
    ),
    refuses(
      'organization-other',
      { key: { organizations }, statement: foreign },
      'Scope',
      'another organization',
      'trust.ORGANIZATION_MISMATCH',
    ),
    accepts(
      'organization-unknown',
      { key: { organizations }, unchecked: ['organization'] },
      'Scope',
      'the organization of the evidence is unknown',
    ),
    accepts(
      'both-unknown',
      { key: { projects, organizations }, unchecked: ['project', 'organization'] },
      'Scope',
      'neither is known',
    ),
    refuses(
      'both-other',
      { key: { projects, organizations }, statement: foreign },
      'Scope',
      'both are others',
      'trust.ORGANIZATION_MISMATCH',
      'trust.PROJECT_MISMATCH',
    ),
    refuses(
      'organization-as-project',
      { key: { projects: [ORGANIZATION] }, statement: { projectId: PROJECT, organizationId: ORGANIZATION } },
      'Scope',
      'an organization in the list of projects',
      'trust.PROJECT_MISMATCH',
    ),
  ];
};
