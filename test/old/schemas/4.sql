SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.authoring_sessions (
    project_id text NOT NULL COLLATE pg_catalog."C",
    authoring_session_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    resource text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.authoring_turns (
    project_id text NOT NULL COLLATE pg_catalog."C",
    authoring_turn_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    authoring_session_id text NOT NULL COLLATE pg_catalog."C",
    sequence bigint NOT NULL,
    deadline_at_ms bigint,
    resource text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.blob_removals (
    digest text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.build_attempts (
    project_id text NOT NULL COLLATE pg_catalog."C",
    build_attempt_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    updated_at_ms bigint NOT NULL,
    upload_expires_at_ms bigint,
    resource text NOT NULL COLLATE pg_catalog."C",
    expected_bytes bigint
);
CREATE TABLE public.builds (
    project_id text NOT NULL COLLATE pg_catalog."C",
    build_hash text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    archive_digest text COLLATE pg_catalog."C",
    archive_bytes bigint
);
CREATE TABLE public.bundles (
    project_id text NOT NULL COLLATE pg_catalog."C",
    evidence_bundle_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    archive_digest text NOT NULL COLLATE pg_catalog."C",
    archive_bytes bigint NOT NULL,
    created_at_ms bigint NOT NULL,
    delete_at_ms bigint,
    deleted_at_ms bigint,
    resource text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.environments (
    project_id text NOT NULL COLLATE pg_catalog."C",
    environment_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    build_hash text COLLATE pg_catalog."C",
    version bigint NOT NULL,
    created_at_ms bigint NOT NULL,
    updated_at_ms bigint NOT NULL
);
CREATE TABLE public.export_parts (
    organization_id text NOT NULL COLLATE pg_catalog."C",
    evidence_export_id text NOT NULL COLLATE pg_catalog."C",
    ordinal bigint NOT NULL,
    evidence_bundle_id text NOT NULL COLLATE pg_catalog."C",
    project_id text NOT NULL COLLATE pg_catalog."C",
    archive_digest text NOT NULL COLLATE pg_catalog."C",
    archive_bytes bigint NOT NULL
);
CREATE TABLE public.export_reports (
    organization_id text NOT NULL COLLATE pg_catalog."C",
    evidence_export_id text NOT NULL COLLATE pg_catalog."C",
    ordinal bigint NOT NULL,
    local_report_id text NOT NULL COLLATE pg_catalog."C",
    project_id text NOT NULL COLLATE pg_catalog."C",
    archive_digest text NOT NULL COLLATE pg_catalog."C",
    archive_bytes bigint NOT NULL,
    item text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.exports (
    organization_id text NOT NULL COLLATE pg_catalog."C",
    evidence_export_id text NOT NULL COLLATE pg_catalog."C",
    ordinal bigint NOT NULL,
    resource text NOT NULL COLLATE pg_catalog."C",
    manifest_digest text COLLATE pg_catalog."C",
    manifest_bytes bigint,
    attestation_digest text COLLATE pg_catalog."C",
    attestation_bytes bigint
);
CREATE TABLE public.hosted_runs (
    project_id text NOT NULL COLLATE pg_catalog."C",
    hosted_run_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    deadline_at_ms bigint NOT NULL,
    resource text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.idempotency (
    organization_id text NOT NULL COLLATE pg_catalog."C",
    project_id text NOT NULL COLLATE pg_catalog."C",
    operation text NOT NULL COLLATE pg_catalog."C",
    idempotency_key text NOT NULL COLLATE pg_catalog."C",
    request_hash text NOT NULL COLLATE pg_catalog."C",
    response text NOT NULL COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint NOT NULL
);
CREATE TABLE public.jobs (
    operation_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    project_id text COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    resource_id text NOT NULL COLLATE pg_catalog."C",
    attempt bigint NOT NULL,
    fence bigint NOT NULL,
    not_before_ms bigint NOT NULL,
    lease_until_ms bigint,
    worker text COLLATE pg_catalog."C",
    traceparent text COLLATE pg_catalog."C",
    labels text COLLATE pg_catalog."C"
);
CREATE TABLE public.local_reports (
    project_id text NOT NULL COLLATE pg_catalog."C",
    local_report_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    archive_digest text NOT NULL COLLATE pg_catalog."C",
    archive_bytes bigint NOT NULL,
    created_at_ms bigint NOT NULL,
    source text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.meta (
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.operations (
    operation_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    project_id text COLLATE pg_catalog."C",
    resource text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.organizations (
    organization_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL,
    max_session_ttl_ms bigint,
    max_stored_bytes bigint,
    max_operations bigint,
    max_uploads bigint
);
CREATE TABLE public.projects (
    project_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL
);
CREATE UNLOGGED TABLE public.rates (
    bucket text NOT NULL COLLATE pg_catalog."C",
    credit_us bigint NOT NULL,
    granted bigint NOT NULL,
    at_ms bigint NOT NULL
);
CREATE TABLE public.runner_logs (
    operation_id text NOT NULL COLLATE pg_catalog."C",
    attempt bigint NOT NULL,
    log text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.sessions (
    project_id text NOT NULL COLLATE pg_catalog."C",
    session_id text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    environment_id text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    expires_at_ms bigint NOT NULL,
    resource text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.tokens (
    token_id text NOT NULL COLLATE pg_catalog."C",
    token_hash text NOT NULL COLLATE pg_catalog."C",
    organization_id text NOT NULL COLLATE pg_catalog."C",
    projects text NOT NULL COLLATE pg_catalog."C",
    permissions text NOT NULL COLLATE pg_catalog."C",
    created_at_ms bigint NOT NULL,
    expires_at_ms bigint,
    revoked_at_ms bigint,
    name text COLLATE pg_catalog."C",
    last_used_at_ms bigint
);
CREATE TABLE public.upload_pieces (
    organization_id text NOT NULL COLLATE pg_catalog."C",
    project_id text NOT NULL COLLATE pg_catalog."C",
    build_attempt_id text NOT NULL COLLATE pg_catalog."C",
    first_byte bigint NOT NULL,
    archive_digest text NOT NULL COLLATE pg_catalog."C",
    archive_bytes bigint NOT NULL
);
CREATE TABLE public.workers (
    worker text NOT NULL COLLATE pg_catalog."C",
    kinds text NOT NULL COLLATE pg_catalog."C",
    seen_at_ms bigint NOT NULL
);
INSERT INTO public.authoring_sessions VALUES ('prj_000000000001', 'authsess_000000000001', 'org_000000000001', '{"schemaVersion":1,"authoringSessionId":"authsess_000000000001","organizationId":"org_000000000001","projectId":"prj_000000000001","repositoryBindingId":"repo_000000000001","createdBy":"admin","branch":"main","baseRevision":"a1b2c3","state":"active","version":2,"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"activeTurnId":"authturn_k0a4g28hbxss2opq7ji7l1vo"}');
INSERT INTO public.authoring_sessions VALUES ('prj_000000000001', 'authsess_000000000002', 'org_000000000001', '{"schemaVersion":1,"authoringSessionId":"authsess_000000000002","organizationId":"org_000000000001","projectId":"prj_000000000001","repositoryBindingId":"repo_000000000001","createdBy":"admin","branch":"main","baseRevision":"a1b2c3","state":"closed","version":2,"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"closedAtMs":1795262400000}');
INSERT INTO public.authoring_turns VALUES ('prj_000000000001', 'authturn_k0a4g28hbxss2opq7ji7l1vo', 'org_000000000001', 'authsess_000000000001', 1, NULL, '{"schemaVersion":1,"authoringTurnId":"authturn_k0a4g28hbxss2opq7ji7l1vo","authoringSessionId":"authsess_000000000001","organizationId":"org_000000000001","projectId":"prj_000000000001","prompt":"write a drill for refunds","effort":"medium","maxTurns":50,"maxBudgetUsd":10,"timeoutMs":1800000,"state":"queued","operationId":"op_rlejaujk8ftwzy0jbdy73lxo","sequence":1,"createdAtMs":1795262400000,"model":"model_tier_2"}');
INSERT INTO public.blob_removals VALUES ('sha256:6690cc7217457c41948b374fe69bfc09a880cfaa2e4396df768a494e9f1efcb7');
INSERT INTO public.blob_removals VALUES ('sha256:aa4fe4d33087d8139541aa36963155b202e52b290c5f82943546e7a20998c6f0');
INSERT INTO public.blob_removals VALUES ('sha256:5feca1a2ba03ad581d627ce076132dca0293361d9da217d10686f767fc50cbfd');
INSERT INTO public.blob_removals VALUES ('sha256:859fb2471a3945aacc658c595ea7f5ef056fd338cbb2d16c2177466e02cae617');
INSERT INTO public.blob_removals VALUES ('sha256:d39493f20c9dc6a194ac0d7c3b74901941303b5829f4c491e562bcdf027b33bc');
INSERT INTO public.blob_removals VALUES ('sha256:f020605230e8c40b6844b8a19579b37506e91e1ee7f9f0d50c87960a39caacd0');
INSERT INTO public.blob_removals VALUES ('sha256:893e7d1b74c9d4ef71257e2a28ce5f581889a238b315b0e2448b68e138e62ca5');
INSERT INTO public.blob_removals VALUES ('sha256:4e4d4e4ff4e37ddf7c6be9dfafde408cea48812481d1387121738a6ce6374cb8');
INSERT INTO public.blob_removals VALUES ('sha256:713a19044a0588976a0e87d5772e5707334ed77bd29636251be2464bf5c76f01');
INSERT INTO public.blob_removals VALUES ('sha256:632789e7cec2018f9e8c816893b1ed5d65c0d90e06670da7d88bfae80704a51f');
INSERT INTO public.build_attempts VALUES ('prj_000000000001', 'attempt_v7vl1c6rl8oqnriy79kqtb2j', 'org_000000000001', 'awaiting_upload', 1795262400000, 1795266000000, '{"schemaVersion":1,"buildAttemptId":"attempt_v7vl1c6rl8oqnriy79kqtb2j","organizationId":"org_000000000001","projectId":"prj_000000000001","sourceKind":"upload","requestedBy":"tok_h5oa6pmhigs7he3h6rjx64hq","state":"awaiting_upload","diagnostics":[],"sourceClosure":[],"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"expectedBuildHash":"sha256:583c1b673b5351af52d45a4594a06569f420ab43c3c9e0ecc99593570f6bf4fc","expectedArtifactDigest":"sha256:713a19044a0588976a0e87d5772e5707334ed77bd29636251be2464bf5c76f01","expectedBytes":1054}', 1000);
INSERT INTO public.build_attempts VALUES ('prj_000000000001', 'attempt_nu93ej0mamr1ny274s5lh70t', 'org_000000000001', 'succeeded', 1795262400000, 1795266000000, '{"schemaVersion":1,"buildAttemptId":"attempt_nu93ej0mamr1ny274s5lh70t","organizationId":"org_000000000001","projectId":"prj_000000000001","sourceKind":"upload","requestedBy":"tok_h5oa6pmhigs7he3h6rjx64hq","state":"succeeded","diagnostics":[],"sourceClosure":["greeter/index.js","greeter/package.json","greeter/ui.html"],"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"expectedBuildHash":"sha256:583c1b673b5351af52d45a4594a06569f420ab43c3c9e0ecc99593570f6bf4fc","expectedArtifactDigest":"sha256:713a19044a0588976a0e87d5772e5707334ed77bd29636251be2464bf5c76f01","expectedBytes":1054,"buildHash":"sha256:583c1b673b5351af52d45a4594a06569f420ab43c3c9e0ecc99593570f6bf4fc","sourceDigest":"sha256:713a19044a0588976a0e87d5772e5707334ed77bd29636251be2464bf5c76f01","finishedAtMs":1795262400000}', 1000);
INSERT INTO public.builds VALUES ('prj_000000000001', 'sha256:abababababababababababababababababababababababababababababababab', 'org_000000000001', 'sha256:abababababababababababababababababababababababababababababababab', 1);
INSERT INTO public.builds VALUES ('prj_000000000001', 'sha256:583c1b673b5351af52d45a4594a06569f420ab43c3c9e0ecc99593570f6bf4fc', 'org_000000000001', 'sha256:713a19044a0588976a0e87d5772e5707334ed77bd29636251be2464bf5c76f01', 1054);
INSERT INTO public.bundles VALUES ('prj_000000000001', 'evidence_000000000001', 'org_000000000001', 'sha256:6690cc7217457c41948b374fe69bfc09a880cfaa2e4396df768a494e9f1efcb7', 2947, 1795262390001, NULL, NULL, '{"schemaVersion":1,"evidenceBundleId":"evidence_000000000001","projectId":"prj_000000000001","hostedRunId":"hrun_000000000001","runId":"run_number-1","manifestDigest":"sha256:751118f3370c7daf8083343667562f04c99dd92aea736463b86ce9d4b4d8f0cc","signed":false,"state":"available","createdAtMs":1795262390001,"storage":{"objectCount":5,"manifestBytes":1084,"artifactBytes":1159,"totalBytes":2243},"storageVerifiedAtMs":1795262400000}');
INSERT INTO public.bundles VALUES ('prj_000000000001', 'evidence_000000000002', 'org_000000000001', 'sha256:aa4fe4d33087d8139541aa36963155b202e52b290c5f82943546e7a20998c6f0', 2947, 1795262390002, NULL, 1795262400000, '{"schemaVersion":1,"evidenceBundleId":"evidence_000000000002","projectId":"prj_000000000001","hostedRunId":"hrun_000000000002","runId":"run_number-2","manifestDigest":"sha256:81672a69b683421bf2ea306f856fe70e6d0260f261ac282b1d28c8a440f53dee","signed":false,"state":"deleted","createdAtMs":1795262390002,"storage":{"objectCount":5,"manifestBytes":1084,"artifactBytes":1159,"totalBytes":2243},"storageVerifiedAtMs":1795262400000,"deletedAtMs":1795262400000}');
INSERT INTO public.bundles VALUES ('prj_000000000001', 'evidence_000000000003', 'org_000000000001', 'sha256:893e7d1b74c9d4ef71257e2a28ce5f581889a238b315b0e2448b68e138e62ca5', 2947, 1795262390003, 1795263400000, NULL, '{"schemaVersion":1,"evidenceBundleId":"evidence_000000000003","projectId":"prj_000000000001","hostedRunId":"hrun_000000000003","runId":"run_number-3","manifestDigest":"sha256:94e17cd9031174e7c9612285c9f078a097b85f84f6a355b6d34ed8327f43ffa4","signed":false,"state":"available","createdAtMs":1795262390003,"storage":{"objectCount":5,"manifestBytes":1084,"artifactBytes":1159,"totalBytes":2243},"storageVerifiedAtMs":1795262400000,"deleteAtMs":1795263400000}');
INSERT INTO public.environments VALUES ('prj_000000000001', 'env_000000000001', 'org_000000000001', 'staging', 'sha256:abababababababababababababababababababababababababababababababab', 1, 1795262400000, 1795262400000);
INSERT INTO public.environments VALUES ('prj_000000000001', 'env_f8a8d9f0b393939e927c84bf', 'org_000000000001', 'ingested evidence', NULL, 1, 1795262390003, 1795262390003);
INSERT INTO public.export_parts VALUES ('org_000000000001', 'evexp_000000000001', 0, 'evidence_000000000001', 'prj_000000000001', 'sha256:6690cc7217457c41948b374fe69bfc09a880cfaa2e4396df768a494e9f1efcb7', 2947);
INSERT INTO public.export_parts VALUES ('org_000000000001', 'evexp_000000000001', 1, 'evidence_000000000002', 'prj_000000000001', 'sha256:aa4fe4d33087d8139541aa36963155b202e52b290c5f82943546e7a20998c6f0', 2947);
INSERT INTO public.export_parts VALUES ('org_000000000001', 'evexp_igfh3u8038qdveud38sz0dy9', 0, 'evidence_000000000001', 'prj_000000000001', 'sha256:6690cc7217457c41948b374fe69bfc09a880cfaa2e4396df768a494e9f1efcb7', 2947);
INSERT INTO public.export_parts VALUES ('org_000000000001', 'evexp_igfh3u8038qdveud38sz0dy9', 1, 'evidence_000000000003', 'prj_000000000001', 'sha256:893e7d1b74c9d4ef71257e2a28ce5f581889a238b315b0e2448b68e138e62ca5', 2947);
INSERT INTO public.export_reports VALUES ('org_000000000001', 'evexp_000000000001', 0, 'lrep_000000000001', 'prj_000000000001', 'sha256:f020605230e8c40b6844b8a19579b37506e91e1ee7f9f0d50c87960a39caacd0', 25, '{"source":{"ordinal":0,"projectId":"prj_000000000001","localReportId":"lrep_000000000001","submissionDigest":"sha256:f020605230e8c40b6844b8a19579b37506e91e1ee7f9f0d50c87960a39caacd0","archiveBytes":25,"provenance":{"origin":"user_produced","trust":"unattested","uploadedBy":"a person"},"manifestDigest":"sha256:abababababababababababababababababababababababababababababababab","summary":{"runId":"run_local-1","drillId":"restore","targetId":"target","reportedBuildHash":"sha256:abababababababababababababababababababababababababababababababab","reportedPackageLockHash":"sha256:abababababababababababababababababababababababababababababababab","seed":"1","reportedStatus":"completed","artifactCount":1,"expandedBytes":10,"redacted":false},"createdAtMs":1795262391001,"verifiedAtMs":1795262400000},"archive":{"localReportId":"lrep_000000000001","path":"local-reports/lrep_000000000001.zip","digest":"sha256:f020605230e8c40b6844b8a19579b37506e91e1ee7f9f0d50c87960a39caacd0","bytes":"25"}}');
INSERT INTO public.export_reports VALUES ('org_000000000001', 'evexp_000000000001', 1, 'lrep_000000000002', 'prj_000000000001', 'sha256:5feca1a2ba03ad581d627ce076132dca0293361d9da217d10686f767fc50cbfd', 25, '{"source":{"ordinal":1,"projectId":"prj_000000000001","localReportId":"lrep_000000000002","submissionDigest":"sha256:5feca1a2ba03ad581d627ce076132dca0293361d9da217d10686f767fc50cbfd","archiveBytes":25,"provenance":{"origin":"user_produced","trust":"unattested","uploadedBy":"a person"},"manifestDigest":"sha256:abababababababababababababababababababababababababababababababab","summary":{"runId":"run_local-2","drillId":"restore","targetId":"target","reportedBuildHash":"sha256:abababababababababababababababababababababababababababababababab","reportedPackageLockHash":"sha256:abababababababababababababababababababababababababababababababab","seed":"1","reportedStatus":"completed","artifactCount":1,"expandedBytes":10,"redacted":false},"createdAtMs":1795262391002,"verifiedAtMs":1795262400000},"archive":{"localReportId":"lrep_000000000002","path":"local-reports/lrep_000000000002.zip","digest":"sha256:5feca1a2ba03ad581d627ce076132dca0293361d9da217d10686f767fc50cbfd","bytes":"25"}}');
INSERT INTO public.export_reports VALUES ('org_000000000001', 'evexp_igfh3u8038qdveud38sz0dy9', 0, 'lrep_000000000001', 'prj_000000000001', 'sha256:f020605230e8c40b6844b8a19579b37506e91e1ee7f9f0d50c87960a39caacd0', 25, '{"source":{"ordinal":0,"projectId":"prj_000000000001","localReportId":"lrep_000000000001","submissionDigest":"sha256:f020605230e8c40b6844b8a19579b37506e91e1ee7f9f0d50c87960a39caacd0","archiveBytes":25,"provenance":{"origin":"user_produced","trust":"unattested","uploadedBy":"a person"},"manifestDigest":"sha256:abababababababababababababababababababababababababababababababab","summary":{"runId":"run_local-1","drillId":"restore","targetId":"target","reportedBuildHash":"sha256:abababababababababababababababababababababababababababababababab","reportedPackageLockHash":"sha256:abababababababababababababababababababababababababababababababab","seed":"1","reportedStatus":"completed","artifactCount":1,"expandedBytes":10,"redacted":false},"createdAtMs":1795262391001,"verifiedAtMs":1795262400000},"archive":{"localReportId":"lrep_000000000001","path":"local-reports/lrep_000000000001.zip","digest":"sha256:f020605230e8c40b6844b8a19579b37506e91e1ee7f9f0d50c87960a39caacd0","bytes":"25"}}');
INSERT INTO public.export_reports VALUES ('org_000000000001', 'evexp_igfh3u8038qdveud38sz0dy9', 1, 'lrep_000000000002', 'prj_000000000001', 'sha256:5feca1a2ba03ad581d627ce076132dca0293361d9da217d10686f767fc50cbfd', 25, '{"source":{"ordinal":1,"projectId":"prj_000000000001","localReportId":"lrep_000000000002","submissionDigest":"sha256:5feca1a2ba03ad581d627ce076132dca0293361d9da217d10686f767fc50cbfd","archiveBytes":25,"provenance":{"origin":"user_produced","trust":"unattested","uploadedBy":"a person"},"manifestDigest":"sha256:abababababababababababababababababababababababababababababababab","summary":{"runId":"run_local-2","drillId":"restore","targetId":"target","reportedBuildHash":"sha256:abababababababababababababababababababababababababababababababab","reportedPackageLockHash":"sha256:abababababababababababababababababababababababababababababababab","seed":"1","reportedStatus":"completed","artifactCount":1,"expandedBytes":10,"redacted":false},"createdAtMs":1795262391002,"verifiedAtMs":1795262400000},"archive":{"localReportId":"lrep_000000000002","path":"local-reports/lrep_000000000002.zip","digest":"sha256:5feca1a2ba03ad581d627ce076132dca0293361d9da217d10686f767fc50cbfd","bytes":"25"}}');
INSERT INTO public.exports VALUES ('org_000000000001', 'evexp_000000000001', 0, '{"schemaVersion":1,"evidenceExportId":"evexp_000000000001","organizationId":"org_000000000001","scope":{"kind":"project","projectId":"prj_000000000001"},"operationId":"op_000000000001","state":"available","requestedBy":"tester","fromAtMs":1795262300000,"throughAtMs":1795262400000,"selectionDigest":"sha256:92ffa40215f45678002b38d4eceeea789245c60be91ea45b9c60dbd4e8be22f8","bundleCount":2,"completedBundleCount":2,"sourceBytes":"4506","archiveBytes":"5944","createdAtMs":1795262398000,"updatedAtMs":1795262399000,"localReportCount":2,"completedLocalReportCount":2,"manifestDigest":"sha256:859fb2471a3945aacc658c595ea7f5ef056fd338cbb2d16c2177466e02cae617","manifestBytes":"1684","completedAtMs":1795262399000}', 'sha256:859fb2471a3945aacc658c595ea7f5ef056fd338cbb2d16c2177466e02cae617', 1684, 'sha256:d39493f20c9dc6a194ac0d7c3b74901941303b5829f4c491e562bcdf027b33bc', 579);
INSERT INTO public.exports VALUES ('org_000000000001', 'evexp_igfh3u8038qdveud38sz0dy9', 1, '{"schemaVersion":1,"evidenceExportId":"evexp_igfh3u8038qdveud38sz0dy9","organizationId":"org_000000000001","scope":{"kind":"organization"},"operationId":"op_tmurm1idj7nvgr4ba9pn3gzu","state":"available","requestedBy":"admin","fromAtMs":1795262300000,"throughAtMs":1795262400000,"selectionDigest":"sha256:a829ccb6ea40fa88b9fb2665083b95a684a82d24df6acc2afdd1d5a349d5e301","bundleCount":2,"completedBundleCount":2,"sourceBytes":"4506","archiveBytes":"5944","createdAtMs":1795262400000,"updatedAtMs":1795262400000,"localReportCount":2,"completedLocalReportCount":2,"manifestDigest":"sha256:632789e7cec2018f9e8c816893b1ed5d65c0d90e06670da7d88bfae80704a51f","manifestBytes":"1670","completedAtMs":1795262400000}', 'sha256:632789e7cec2018f9e8c816893b1ed5d65c0d90e06670da7d88bfae80704a51f', 1670, NULL, NULL);
INSERT INTO public.exports VALUES ('org_000000000001', 'evexp_2il6qtiu7hegkezl5toqhut1', 2, '{"schemaVersion":1,"organizationId":"org_000000000001","scope":{"kind":"project","projectId":"prj_000000000001"},"fromAtMs":1795262300000,"throughAtMs":1795262400000,"evidenceExportId":"evexp_2il6qtiu7hegkezl5toqhut1","requestedBy":"admin","operationId":"op_y7uedjsbzbsg08e4zv1bt2us","state":"pending","completedBundleCount":0,"selectionDigest":"sha256:a829ccb6ea40fa88b9fb2665083b95a684a82d24df6acc2afdd1d5a349d5e301","bundleCount":2,"localReportCount":2,"sourceBytes":"4506","archiveBytes":"5944","createdAtMs":1795262400000,"updatedAtMs":1795262400000}', NULL, NULL, NULL, NULL);
INSERT INTO public.hosted_runs VALUES ('prj_000000000001', 'hrun_000000000001', 'org_000000000001', 'ses_000000000001', 'failed', 1795266000000, '{"schemaVersion":1,"hostedRunId":"hrun_000000000001","evidenceBundleId":"evidence_000000000001","organizationId":"org_000000000001","projectId":"prj_000000000001","environmentId":"env_000000000001","sessionId":"ses_000000000001","buildHash":"sha256:abababababababababababababababababababababababababababababababab","request":{"runId":"run_number-1","drillId":"restore","seed":"1","trial":2,"trialCount":3,"attempt":4,"attemptLimit":5},"leaseGeneration":1,"revision":1,"state":"failed","deadlineAtMs":1795266000000,"evidenceRetentionMs":2592000000,"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"finishedAtMs":1795262400000}');
INSERT INTO public.hosted_runs VALUES ('prj_000000000001', 'hrun_000000000002', 'org_000000000001', 'ses_000000000001', 'created', 1795269600000, '{"schemaVersion":1,"hostedRunId":"hrun_000000000002","evidenceBundleId":"evidence_000000000002","organizationId":"org_000000000001","projectId":"prj_000000000001","environmentId":"env_000000000001","sessionId":"ses_000000000001","buildHash":"sha256:abababababababababababababababababababababababababababababababab","request":{"runId":"run_number-2","drillId":"restore","seed":"1","trial":1,"trialCount":1,"attempt":1,"attemptLimit":1},"leaseGeneration":1,"revision":2,"state":"created","deadlineAtMs":1795269600000,"evidenceRetentionMs":2592000000,"createdAtMs":1795262400000,"updatedAtMs":1795262400000}');
INSERT INTO public.hosted_runs VALUES ('prj_000000000001', 'hrun_000000000003', 'org_000000000001', 'ses_d99b5f6e8522ce054e587311', 'succeeded', 1795265990003, '{"schemaVersion":1,"createdAtMs":1795262390003,"evidenceBundleId":"evidence_000000000003","hostedRunId":"hrun_000000000003","organizationId":"org_000000000001","projectId":"prj_000000000001","result":{"assertionResults":[],"bindingEvidence":"complete","budgetUsage":{"scheduledEvents":{"exhausted":false,"limit":10,"processed":0},"toolCalls":{"attempted":1,"limit":10,"rejected":0}},"checkpoints":[],"evidenceHash":"sha256:531bbb75c79c0cbd00f309530bdde9bc8d80544e8de32c4bad5ce3e6593933f3","evidenceRange":{"fromSequence":1,"toSequence":2},"finishedAtVirtualUs":1000000,"identity":{"attempt":1,"attemptLimit":1,"buildHash":"sha256:abababababababababababababababababababababababababababababababab","drillId":"restore","packageLockHash":"sha256:0c030586945fe504b604ecc2e875c38ede400cd5cd73da9730302162e6b02c6f","runId":"run_number-3","scenarioId":"plain","seed":"3","setupHash":"sha256:8fb6d5f37e8055ce720bd0b1d56587f88c0071f285966ba17e72b2b12672aa73","targetId":"target","trial":1,"trialCount":1,"worldInstanceId":"world-3"},"interactions":[],"schemaVersion":1,"startedAtVirtualUs":0,"stateHash":"sha256:437248afd69ac74d33bcd0df352017f077b9bf3e79443915f1336b931a268ed3","status":"completed","trajectoryHash":"sha256:c361cb9236e101b8effd370f8460c6e6500cf531dbeeb6e21ad2e7c113a521a0","verdict":"passed","worldConsistency":"consistent"},"environmentId":"env_f8a8d9f0b393939e927c84bf","sessionId":"ses_d99b5f6e8522ce054e587311","buildHash":"sha256:abababababababababababababababababababababababababababababababab","request":{"runId":"run_number-3","drillId":"restore","seed":"3","trial":1,"trialCount":1,"attempt":1,"attemptLimit":1},"leaseGeneration":1,"revision":1,"state":"succeeded","deadlineAtMs":1795265990003,"evidenceRetentionMs":0,"updatedAtMs":1795262390003,"identity":{"attempt":1,"attemptLimit":1,"buildHash":"sha256:abababababababababababababababababababababababababababababababab","drillId":"restore","packageLockHash":"sha256:0c030586945fe504b604ecc2e875c38ede400cd5cd73da9730302162e6b02c6f","runId":"run_number-3","scenarioId":"plain","seed":"3","setupHash":"sha256:8fb6d5f37e8055ce720bd0b1d56587f88c0071f285966ba17e72b2b12672aa73","targetId":"target","trial":1,"trialCount":1,"worldInstanceId":"world-3"},"termination":{"schemaVersion":1,"outcome":"completed"},"finishedAtMs":1795262390003}');
INSERT INTO public.hosted_runs VALUES ('prj_000000000001', 'hrun_8oys5dvyfx3i12lsyub64ap1', 'org_000000000001', 'ses_9l42g7sjbt1xpvnjomw984yo', 'created', 1795269600000, '{"schemaVersion":1,"hostedRunId":"hrun_8oys5dvyfx3i12lsyub64ap1","evidenceBundleId":"evidence_o3i2keallz87a823jio3e8kp","organizationId":"org_000000000001","projectId":"prj_000000000001","environmentId":"env_000000000001","sessionId":"ses_9l42g7sjbt1xpvnjomw984yo","buildHash":"sha256:abababababababababababababababababababababababababababababababab","request":{"runId":"run_560nctfv07tg1usm4yntew3r","drillId":"restore","seed":"1","trial":2,"trialCount":3,"attempt":4,"attemptLimit":5},"leaseGeneration":1,"revision":1,"state":"created","deadlineAtMs":1795269600000,"evidenceRetentionMs":2592000000,"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"rerunOfHostedRunId":"hrun_000000000001"}');
INSERT INTO public.idempotency VALUES ('org_000000000001', 'prj_000000000001', 'sessions.extend', 'key-0.9298298203407206', 'sha256:f5f59bd9959746a1146a27e979154629d45acf4af440bdac156957966cc56ae2', '{"session":{"schemaVersion":1,"organizationId":"org_000000000001","projectId":"prj_000000000001","environmentId":"env_000000000001","sessionId":"ses_000000000001","buildHash":"sha256:abababababababababababababababababababababababababababababababab","drillId":"restore","seed":"1","callbackReceiverBindingIds":[],"state":"ready","leaseGeneration":1,"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"expiresAtMs":1795269600000,"version":2},"operation":{"schemaVersion":1,"operationId":"op_nv5euuazn734paebsf8j9q4l","organizationId":"org_000000000001","projectId":"prj_000000000001","kind":"session.extend","state":"succeeded","resourceType":"session","resourceId":"ses_000000000001","idempotencyKey":"key-0.9298298203407206","requestHash":"sha256:f5f59bd9959746a1146a27e979154629d45acf4af440bdac156957966cc56ae2","startedAtMs":1795262400000,"finishedAtMs":1795262400000,"createdAtMs":1795262400000,"updatedAtMs":1795262400000}}', 1795262400000, 1795348800000);
INSERT INTO public.idempotency VALUES ('org_000000000001', 'prj_000000000001', 'authoring.turns.create', 'key-0.9787311332167122', 'sha256:ce79768fb24a33de586025e822d90717c634198cdb3e0037a2586ee2dc9b191a', '{"session":{"schemaVersion":1,"authoringSessionId":"authsess_000000000001","organizationId":"org_000000000001","projectId":"prj_000000000001","repositoryBindingId":"repo_000000000001","createdBy":"admin","branch":"main","baseRevision":"a1b2c3","state":"active","version":2,"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"activeTurnId":"authturn_k0a4g28hbxss2opq7ji7l1vo"},"turn":{"schemaVersion":1,"authoringTurnId":"authturn_k0a4g28hbxss2opq7ji7l1vo","authoringSessionId":"authsess_000000000001","organizationId":"org_000000000001","projectId":"prj_000000000001","sequence":1,"prompt":"write a drill for refunds","model":"model_tier_2","effort":"medium","maxTurns":50,"maxBudgetUsd":10,"timeoutMs":1800000,"state":"queued","operationId":"op_rlejaujk8ftwzy0jbdy73lxo","createdAtMs":1795262400000},"operation":{"schemaVersion":1,"operationId":"op_rlejaujk8ftwzy0jbdy73lxo","organizationId":"org_000000000001","projectId":"prj_000000000001","kind":"authoring.turn","state":"pending","resourceType":"authoring_turn","resourceId":"authturn_k0a4g28hbxss2opq7ji7l1vo","idempotencyKey":"key-0.9787311332167122","requestHash":"sha256:ce79768fb24a33de586025e822d90717c634198cdb3e0037a2586ee2dc9b191a","createdAtMs":1795262400000,"updatedAtMs":1795262400000}}', 1795262400000, 1795348800000);
INSERT INTO public.idempotency VALUES ('org_000000000001', 'prj_000000000001', 'authoring.sessions.close', 'key-0.7475313748462981', 'sha256:4d4c7a8d19fe6d6fb03dc3b665fb25c0587a7bd403036b8729656c6bd2c003e6', '{"session":{"schemaVersion":1,"authoringSessionId":"authsess_000000000002","organizationId":"org_000000000001","projectId":"prj_000000000001","repositoryBindingId":"repo_000000000001","createdBy":"admin","branch":"main","baseRevision":"a1b2c3","state":"closed","version":2,"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"closedAtMs":1795262400000},"operation":{"schemaVersion":1,"operationId":"op_fl7iw9bq05yufwc26jaacipp","organizationId":"org_000000000001","projectId":"prj_000000000001","kind":"authoring.session.close","state":"succeeded","resourceType":"authoring_session","resourceId":"authsess_000000000002","idempotencyKey":"key-0.7475313748462981","requestHash":"sha256:4d4c7a8d19fe6d6fb03dc3b665fb25c0587a7bd403036b8729656c6bd2c003e6","startedAtMs":1795262400000,"finishedAtMs":1795262400000,"createdAtMs":1795262400000,"updatedAtMs":1795262400000}}', 1795262400000, 1795348800000);
INSERT INTO public.idempotency VALUES ('org_000000000001', 'prj_000000000001', 'runs.reruns.create', 'key-0.6695617356898532', 'sha256:5a14667e5376d2c0022527fc8a136a2c5ca7eb6294e89b992c810ec7bd9be822', '{"run":{"schemaVersion":1,"hostedRunId":"hrun_8oys5dvyfx3i12lsyub64ap1","evidenceBundleId":"evidence_o3i2keallz87a823jio3e8kp","organizationId":"org_000000000001","projectId":"prj_000000000001","environmentId":"env_000000000001","sessionId":"ses_9l42g7sjbt1xpvnjomw984yo","buildHash":"sha256:abababababababababababababababababababababababababababababababab","request":{"runId":"run_560nctfv07tg1usm4yntew3r","drillId":"restore","seed":"1","trial":2,"trialCount":3,"attempt":4,"attemptLimit":5},"leaseGeneration":1,"revision":1,"state":"created","deadlineAtMs":1795269600000,"evidenceRetentionMs":2592000000,"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"rerunOfHostedRunId":"hrun_000000000001"},"operation":{"schemaVersion":1,"operationId":"op_z6ge5swfveh9om2cmdivxxcj","organizationId":"org_000000000001","projectId":"prj_000000000001","kind":"run.rerun","state":"pending","resourceType":"hosted_run","resourceId":"hrun_8oys5dvyfx3i12lsyub64ap1","idempotencyKey":"key-0.6695617356898532","requestHash":"sha256:5a14667e5376d2c0022527fc8a136a2c5ca7eb6294e89b992c810ec7bd9be822","createdAtMs":1795262400000,"updatedAtMs":1795262400000}}', 1795262400000, 1795348800000);
INSERT INTO public.idempotency VALUES ('org_000000000001', 'prj_000000000001', 'builds.uploads.create', 'key-0.12401795924595171', 'sha256:e1563710661f0addb3dc8af3d70cca6568b3e9d6e32622b8f7101b2ec0816b92', '{"attempt":{"schemaVersion":1,"buildAttemptId":"attempt_v7vl1c6rl8oqnriy79kqtb2j","organizationId":"org_000000000001","projectId":"prj_000000000001","sourceKind":"upload","requestedBy":"tok_h5oa6pmhigs7he3h6rjx64hq","state":"awaiting_upload","diagnostics":[],"sourceClosure":[],"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"expectedBuildHash":"sha256:583c1b673b5351af52d45a4594a06569f420ab43c3c9e0ecc99593570f6bf4fc","expectedArtifactDigest":"sha256:713a19044a0588976a0e87d5772e5707334ed77bd29636251be2464bf5c76f01","expectedBytes":1054},"expiresAtMs":1795266000000}', 1795262400000, 1795348800000);
INSERT INTO public.idempotency VALUES ('org_000000000001', 'prj_000000000001', 'builds.uploads.create', 'key-0.3061689113793471', 'sha256:e1563710661f0addb3dc8af3d70cca6568b3e9d6e32622b8f7101b2ec0816b92', '{"attempt":{"schemaVersion":1,"buildAttemptId":"attempt_nu93ej0mamr1ny274s5lh70t","organizationId":"org_000000000001","projectId":"prj_000000000001","sourceKind":"upload","requestedBy":"tok_h5oa6pmhigs7he3h6rjx64hq","state":"awaiting_upload","diagnostics":[],"sourceClosure":[],"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"expectedBuildHash":"sha256:583c1b673b5351af52d45a4594a06569f420ab43c3c9e0ecc99593570f6bf4fc","expectedArtifactDigest":"sha256:713a19044a0588976a0e87d5772e5707334ed77bd29636251be2464bf5c76f01","expectedBytes":1054},"expiresAtMs":1795266000000}', 1795262400000, 1795348800000);
INSERT INTO public.jobs VALUES ('op_rlejaujk8ftwzy0jbdy73lxo', 'org_000000000001', 'prj_000000000001', 'authoring.turn', 'authturn_k0a4g28hbxss2opq7ji7l1vo', 0, 0, 1795262400000, NULL, NULL, NULL, NULL);
INSERT INTO public.jobs VALUES ('op_y7uedjsbzbsg08e4zv1bt2us', 'org_000000000001', 'prj_000000000001', 'evidence.export', 'evexp_2il6qtiu7hegkezl5toqhut1', 0, 0, 1795262400000, NULL, NULL, NULL, NULL);
INSERT INTO public.jobs VALUES ('op_z6ge5swfveh9om2cmdivxxcj', 'org_000000000001', 'prj_000000000001', 'run.rerun', 'hrun_8oys5dvyfx3i12lsyub64ap1', 0, 0, 1795262400000, NULL, NULL, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '["environment=env_000000000001","project=prj_000000000001"]');
INSERT INTO public.local_reports VALUES ('prj_000000000001', 'lrep_000000000001', 'org_000000000001', 'sha256:f020605230e8c40b6844b8a19579b37506e91e1ee7f9f0d50c87960a39caacd0', 25, 1795262391001, '{"projectId":"prj_000000000001","localReportId":"lrep_000000000001","submissionDigest":"sha256:f020605230e8c40b6844b8a19579b37506e91e1ee7f9f0d50c87960a39caacd0","archiveBytes":25,"provenance":{"origin":"user_produced","trust":"unattested","uploadedBy":"a person"},"manifestDigest":"sha256:abababababababababababababababababababababababababababababababab","summary":{"runId":"run_local-1","drillId":"restore","targetId":"target","reportedBuildHash":"sha256:abababababababababababababababababababababababababababababababab","reportedPackageLockHash":"sha256:abababababababababababababababababababababababababababababababab","seed":"1","reportedStatus":"completed","artifactCount":1,"expandedBytes":10,"redacted":false},"createdAtMs":1795262391001,"verifiedAtMs":1795262400000}');
INSERT INTO public.local_reports VALUES ('prj_000000000001', 'lrep_000000000002', 'org_000000000001', 'sha256:5feca1a2ba03ad581d627ce076132dca0293361d9da217d10686f767fc50cbfd', 25, 1795262391002, '{"projectId":"prj_000000000001","localReportId":"lrep_000000000002","submissionDigest":"sha256:5feca1a2ba03ad581d627ce076132dca0293361d9da217d10686f767fc50cbfd","archiveBytes":25,"provenance":{"origin":"user_produced","trust":"unattested","uploadedBy":"a person"},"manifestDigest":"sha256:abababababababababababababababababababababababababababababababab","summary":{"runId":"run_local-2","drillId":"restore","targetId":"target","reportedBuildHash":"sha256:abababababababababababababababababababababababababababababababab","reportedPackageLockHash":"sha256:abababababababababababababababababababababababababababababababab","seed":"1","reportedStatus":"completed","artifactCount":1,"expandedBytes":10,"redacted":false},"createdAtMs":1795262391002,"verifiedAtMs":1795262400000}');
INSERT INTO public.meta VALUES ('secret.upload', 'be7d17ed80dea84d05f8b297433673ee8069ff7a3ec0a944ade41adc9735e651');
INSERT INTO public.meta VALUES ('secret.x', '368eee77b11895ba29f2ca7cd87ed1da451da6892af8c68f6de42847a492bef9');
INSERT INTO public.meta VALUES ('schema_version', '4');
INSERT INTO public.meta VALUES ('retention', '{"operations":90,"runs":365}');
INSERT INTO public.operations VALUES ('op_nv5euuazn734paebsf8j9q4l', 'org_000000000001', 'prj_000000000001', '{"schemaVersion":1,"operationId":"op_nv5euuazn734paebsf8j9q4l","organizationId":"org_000000000001","projectId":"prj_000000000001","kind":"session.extend","resourceType":"session","resourceId":"ses_000000000001","idempotencyKey":"key-0.9298298203407206","requestHash":"sha256:f5f59bd9959746a1146a27e979154629d45acf4af440bdac156957966cc56ae2","updatedAtMs":1795262400000,"state":"succeeded","createdAtMs":1795262400000,"startedAtMs":1795262400000,"finishedAtMs":1795262400000}');
INSERT INTO public.operations VALUES ('op_rlejaujk8ftwzy0jbdy73lxo', 'org_000000000001', 'prj_000000000001', '{"schemaVersion":1,"operationId":"op_rlejaujk8ftwzy0jbdy73lxo","organizationId":"org_000000000001","projectId":"prj_000000000001","kind":"authoring.turn","resourceType":"authoring_turn","resourceId":"authturn_k0a4g28hbxss2opq7ji7l1vo","idempotencyKey":"key-0.9787311332167122","requestHash":"sha256:ce79768fb24a33de586025e822d90717c634198cdb3e0037a2586ee2dc9b191a","updatedAtMs":1795262400000,"state":"pending","createdAtMs":1795262400000}');
INSERT INTO public.operations VALUES ('op_fl7iw9bq05yufwc26jaacipp', 'org_000000000001', 'prj_000000000001', '{"schemaVersion":1,"operationId":"op_fl7iw9bq05yufwc26jaacipp","organizationId":"org_000000000001","projectId":"prj_000000000001","kind":"authoring.session.close","resourceType":"authoring_session","resourceId":"authsess_000000000002","idempotencyKey":"key-0.7475313748462981","requestHash":"sha256:4d4c7a8d19fe6d6fb03dc3b665fb25c0587a7bd403036b8729656c6bd2c003e6","updatedAtMs":1795262400000,"state":"succeeded","createdAtMs":1795262400000,"startedAtMs":1795262400000,"finishedAtMs":1795262400000}');
INSERT INTO public.operations VALUES ('op_z6ge5swfveh9om2cmdivxxcj', 'org_000000000001', 'prj_000000000001', '{"schemaVersion":1,"operationId":"op_z6ge5swfveh9om2cmdivxxcj","organizationId":"org_000000000001","projectId":"prj_000000000001","kind":"run.rerun","resourceType":"hosted_run","resourceId":"hrun_8oys5dvyfx3i12lsyub64ap1","idempotencyKey":"key-0.6695617356898532","requestHash":"sha256:5a14667e5376d2c0022527fc8a136a2c5ca7eb6294e89b992c810ec7bd9be822","updatedAtMs":1795262400000,"state":"pending","createdAtMs":1795262400000}');
INSERT INTO public.operations VALUES ('op_tgbjhx9yq4vk43d2mnhyetwm', 'org_000000000001', 'prj_000000000001', '{"schemaVersion":1,"operationId":"op_tgbjhx9yq4vk43d2mnhyetwm","organizationId":"org_000000000001","projectId":"prj_000000000001","kind":"evidence.bundle.delete","resourceType":"evidence_bundle","resourceId":"evidence_000000000002","idempotencyKey":"work:op_tgbjhx9yq4vk43d2mnhyetwm","requestHash":"sha256:1b3cc69531b77241137be01807dada8e64c1fecf939be7bafb89642b6cc64a9a","updatedAtMs":1795262400000,"state":"succeeded","createdAtMs":1795262400000,"startedAtMs":1795262400000,"finishedAtMs":1795262400000}');
INSERT INTO public.operations VALUES ('op_tmurm1idj7nvgr4ba9pn3gzu', 'org_000000000001', NULL, '{"schemaVersion":1,"operationId":"op_tmurm1idj7nvgr4ba9pn3gzu","organizationId":"org_000000000001","kind":"evidence.export","resourceType":"evidence_export","resourceId":"evexp_igfh3u8038qdveud38sz0dy9","idempotencyKey":"work:op_tmurm1idj7nvgr4ba9pn3gzu","requestHash":"sha256:7ac298a34dad09b40b26754f1e734baec9fc9b27c8dba5981431e05467cdbbeb","updatedAtMs":1795262400000,"state":"succeeded","createdAtMs":1795262400000,"startedAtMs":1795262400000,"finishedAtMs":1795262400000}');
INSERT INTO public.operations VALUES ('op_y7uedjsbzbsg08e4zv1bt2us', 'org_000000000001', 'prj_000000000001', '{"schemaVersion":1,"operationId":"op_y7uedjsbzbsg08e4zv1bt2us","organizationId":"org_000000000001","projectId":"prj_000000000001","kind":"evidence.export","resourceType":"evidence_export","resourceId":"evexp_2il6qtiu7hegkezl5toqhut1","idempotencyKey":"work:op_y7uedjsbzbsg08e4zv1bt2us","requestHash":"sha256:722aded1a6999f723b70588d85ed07aa132b2b48307b2b1fd2b6bc2266ffcc44","updatedAtMs":1795262400000,"state":"pending","createdAtMs":1795262400000}');
INSERT INTO public.organizations VALUES ('org_000000000002', 'second', 1795262400000, NULL, NULL, NULL, NULL);
INSERT INTO public.organizations VALUES ('org_000000000001', 'first', 1795262400000, 86400000, 1000000000, 100, 10);
INSERT INTO public.projects VALUES ('prj_000000000001', 'org_000000000001', 'one', 1795262400000);
INSERT INTO public.projects VALUES ('prj_000000000002', 'org_000000000001', 'two', 1795262400000);
INSERT INTO public.projects VALUES ('prj_000000000003', 'org_000000000002', 'three', 1795262400000);
INSERT INTO public.rates VALUES ('tok_example', 1000, 1, 1795262400000);
INSERT INTO public.runner_logs VALUES ('op_rlejaujk8ftwzy0jbdy73lxo', 1, 'a line of a program');
INSERT INTO public.runner_logs VALUES ('op_y7uedjsbzbsg08e4zv1bt2us', 1, 'a line of a program');
INSERT INTO public.runner_logs VALUES ('op_z6ge5swfveh9om2cmdivxxcj', 1, 'a line of a program');
INSERT INTO public.sessions VALUES ('prj_000000000001', 'ses_000000000001', 'org_000000000001', 'env_000000000001', 'ready', 1795269600000, '{"schemaVersion":1,"organizationId":"org_000000000001","projectId":"prj_000000000001","environmentId":"env_000000000001","sessionId":"ses_000000000001","buildHash":"sha256:abababababababababababababababababababababababababababababababab","drillId":"restore","seed":"1","callbackReceiverBindingIds":[],"state":"ready","leaseGeneration":1,"createdAtMs":1795262400000,"updatedAtMs":1795262400000,"expiresAtMs":1795269600000,"version":2}');
INSERT INTO public.sessions VALUES ('prj_000000000001', 'ses_d99b5f6e8522ce054e587311', 'org_000000000001', 'env_f8a8d9f0b393939e927c84bf', 'destroyed', 1795265990003, '{"schemaVersion":1,"organizationId":"org_000000000001","projectId":"prj_000000000001","environmentId":"env_f8a8d9f0b393939e927c84bf","sessionId":"ses_d99b5f6e8522ce054e587311","buildHash":"sha256:abababababababababababababababababababababababababababababababab","drillId":"restore","seed":"3","callbackReceiverBindingIds":[],"state":"destroyed","leaseGeneration":1,"createdAtMs":1795262390003,"updatedAtMs":1795262390003,"expiresAtMs":1795265990003,"destroyedAtMs":1795262390003,"version":1}');
INSERT INTO public.sessions VALUES ('prj_000000000001', 'ses_9l42g7sjbt1xpvnjomw984yo', 'org_000000000001', 'env_000000000001', 'creating', 1795269600000, '{"schemaVersion":1,"organizationId":"org_000000000001","projectId":"prj_000000000001","environmentId":"env_000000000001","sessionId":"ses_9l42g7sjbt1xpvnjomw984yo","buildHash":"sha256:abababababababababababababababababababababababababababababababab","drillId":"restore","seed":"1","callbackReceiverBindingIds":[],"state":"creating","leaseGeneration":1,"parentSessionId":"ses_000000000001","createdAtMs":1795262400000,"updatedAtMs":1795262400000,"expiresAtMs":1795269600000,"version":1}');
INSERT INTO public.tokens VALUES ('tok_fekxbzwztetc9xxp9lsdsqh7', '995369d1b2e323332e016df808a2be9373c5c97178131fec0cf4dd6081bec3ef', 'org_000000000001', '["prj_000000000001"]', '["evidence.read"]', 1795262400000, 1795262460000, 1795262400000, NULL, NULL);
INSERT INTO public.tokens VALUES ('tok_h5oa6pmhigs7he3h6rjx64hq', 'b6732efdcbf295b0680e1f6685f5a2f2aaeb0a8fa891c0f6f9d16757f3cb6b39', 'org_000000000001', '"all"', '["session.control","build.read","build.write","authoring.write","run.write","evidence.read"]', 1795262400000, NULL, NULL, 'ci', 1795262400000);
INSERT INTO public.upload_pieces VALUES ('org_000000000001', 'prj_000000000001', 'attempt_v7vl1c6rl8oqnriy79kqtb2j', 0, 'sha256:4e4d4e4ff4e37ddf7c6be9dfafde408cea48812481d1387121738a6ce6374cb8', 100);
INSERT INTO public.workers VALUES ('example:1:0123abcd', '["evidence.bundle.delete","evidence.export","evidence.export.delete"]', 1795262400000);
ALTER TABLE ONLY public.authoring_sessions
    ADD CONSTRAINT authoring_sessions_pkey PRIMARY KEY (project_id, authoring_session_id);
ALTER TABLE ONLY public.authoring_turns
    ADD CONSTRAINT authoring_turns_pkey PRIMARY KEY (project_id, authoring_turn_id);
ALTER TABLE ONLY public.authoring_turns
    ADD CONSTRAINT authoring_turns_project_id_authoring_session_id_sequence_key UNIQUE (project_id, authoring_session_id, sequence);
ALTER TABLE ONLY public.blob_removals
    ADD CONSTRAINT blob_removals_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.build_attempts
    ADD CONSTRAINT build_attempts_pkey PRIMARY KEY (project_id, build_attempt_id);
ALTER TABLE ONLY public.builds
    ADD CONSTRAINT builds_pkey PRIMARY KEY (project_id, build_hash);
ALTER TABLE ONLY public.bundles
    ADD CONSTRAINT bundles_pkey PRIMARY KEY (project_id, evidence_bundle_id);
ALTER TABLE ONLY public.environments
    ADD CONSTRAINT environments_pkey PRIMARY KEY (project_id, environment_id);
ALTER TABLE ONLY public.export_parts
    ADD CONSTRAINT export_parts_organization_id_evidence_export_id_ordinal_key UNIQUE (organization_id, evidence_export_id, ordinal);
ALTER TABLE ONLY public.export_parts
    ADD CONSTRAINT export_parts_pkey PRIMARY KEY (organization_id, evidence_export_id, evidence_bundle_id);
ALTER TABLE ONLY public.export_reports
    ADD CONSTRAINT export_reports_organization_id_evidence_export_id_local_rep_key UNIQUE (organization_id, evidence_export_id, local_report_id);
ALTER TABLE ONLY public.export_reports
    ADD CONSTRAINT export_reports_pkey PRIMARY KEY (organization_id, evidence_export_id, ordinal);
ALTER TABLE ONLY public.exports
    ADD CONSTRAINT exports_organization_id_ordinal_key UNIQUE (organization_id, ordinal);
ALTER TABLE ONLY public.exports
    ADD CONSTRAINT exports_pkey PRIMARY KEY (organization_id, evidence_export_id);
ALTER TABLE ONLY public.hosted_runs
    ADD CONSTRAINT hosted_runs_pkey PRIMARY KEY (project_id, hosted_run_id);
ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (organization_id, project_id, operation, idempotency_key);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (operation_id);
ALTER TABLE ONLY public.local_reports
    ADD CONSTRAINT local_reports_pkey PRIMARY KEY (project_id, local_report_id);
ALTER TABLE ONLY public.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (operation_id);
ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_pkey PRIMARY KEY (organization_id);
ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_organization_id_project_id_key UNIQUE (organization_id, project_id);
ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_pkey PRIMARY KEY (project_id);
ALTER TABLE ONLY public.rates
    ADD CONSTRAINT rates_pkey PRIMARY KEY (bucket);
ALTER TABLE ONLY public.runner_logs
    ADD CONSTRAINT runner_logs_pkey PRIMARY KEY (operation_id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (project_id, session_id);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (token_id);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_token_hash_key UNIQUE (token_hash);
ALTER TABLE ONLY public.upload_pieces
    ADD CONSTRAINT upload_pieces_pkey PRIMARY KEY (project_id, build_attempt_id, first_byte);
ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (worker);
CREATE INDEX authoring_sessions_ended ON public.authoring_sessions USING btree (((((replace(replace(resource, '\\'::text, ''::text), '\u'::text, 'u'::text))::json ->> 'closedAtMs'::text))::bigint), project_id, authoring_session_id);
CREATE INDEX authoring_turns_due ON public.authoring_turns USING btree (deadline_at_ms) WHERE (deadline_at_ms IS NOT NULL);
CREATE INDEX authoring_turns_ended ON public.authoring_turns USING btree (((((replace(replace(resource, '\\'::text, ''::text), '\u'::text, 'u'::text))::json ->> 'finishedAtMs'::text))::bigint), project_id, authoring_turn_id);
CREATE INDEX authoring_turns_of_operation ON public.authoring_turns USING btree (project_id, (((replace(replace(resource, '\\'::text, ''::text), '\u'::text, 'u'::text))::json ->> 'operationId'::text)) COLLATE "C");
CREATE INDEX build_attempts_ended ON public.build_attempts USING btree (updated_at_ms, project_id, build_attempt_id) WHERE (state = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text]));
CREATE INDEX build_attempts_of_organization ON public.build_attempts USING btree (organization_id, expected_bytes) WHERE (state <> ALL (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text]));
CREATE INDEX build_attempts_unfinished ON public.build_attempts USING btree (state, updated_at_ms) WHERE (state <> ALL (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text]));
CREATE INDEX builds_by_blob ON public.builds USING btree (archive_digest);
CREATE INDEX builds_stored ON public.builds USING btree (organization_id, archive_bytes);
CREATE INDEX bundles_by_blob ON public.bundles USING btree (archive_digest);
CREATE INDEX bundles_in_order ON public.bundles USING btree (organization_id, created_at_ms, evidence_bundle_id);
CREATE INDEX bundles_of_run ON public.bundles USING btree (project_id, (((replace(replace(resource, '\\'::text, ''::text), '\u'::text, 'u'::text))::json ->> 'hostedRunId'::text)) COLLATE "C") WHERE (deleted_at_ms IS NULL);
CREATE INDEX bundles_stored ON public.bundles USING btree (organization_id, archive_bytes) WHERE (deleted_at_ms IS NULL);
CREATE INDEX bundles_to_delete ON public.bundles USING btree (delete_at_ms) WHERE (deleted_at_ms IS NULL);
CREATE INDEX export_parts_by_blob ON public.export_parts USING btree (archive_digest);
CREATE INDEX export_parts_by_bundle ON public.export_parts USING btree (project_id, evidence_bundle_id);
CREATE INDEX export_reports_by_blob ON public.export_reports USING btree (archive_digest);
CREATE INDEX exports_by_attestation ON public.exports USING btree (attestation_digest);
CREATE INDEX exports_by_manifest ON public.exports USING btree (manifest_digest);
CREATE INDEX hosted_runs_due ON public.hosted_runs USING btree (deadline_at_ms) WHERE (state = ANY (ARRAY['created'::text, 'running'::text]));
CREATE INDEX hosted_runs_ended ON public.hosted_runs USING btree (((((replace(replace(resource, '\\'::text, ''::text), '\u'::text, 'u'::text))::json ->> 'updatedAtMs'::text))::bigint), project_id, hosted_run_id) WHERE (state = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text, 'expired'::text]));
CREATE INDEX hosted_runs_of_original ON public.hosted_runs USING btree (project_id, (((replace(replace(resource, '\\'::text, ''::text), '\u'::text, 'u'::text))::json ->> 'rerunOfHostedRunId'::text)) COLLATE "C");
CREATE INDEX hosted_runs_of_session ON public.hosted_runs USING btree (project_id, session_id);
CREATE INDEX idempotency_by_expiry ON public.idempotency USING btree (expires_at_ms);
CREATE INDEX jobs_in_order ON public.jobs USING btree (not_before_ms, operation_id);
CREATE INDEX jobs_of_organization ON public.jobs USING btree (organization_id);
CREATE INDEX jobs_of_resource ON public.jobs USING btree (resource_id);
CREATE INDEX local_reports_by_blob ON public.local_reports USING btree (archive_digest);
CREATE INDEX local_reports_in_order ON public.local_reports USING btree (organization_id, created_at_ms, local_report_id);
CREATE INDEX operations_ended ON public.operations USING btree (((((replace(replace(resource, '\\'::text, ''::text), '\u'::text, 'u'::text))::json ->> 'finishedAtMs'::text))::bigint), operation_id);
CREATE INDEX sessions_due ON public.sessions USING btree (expires_at_ms) WHERE (state = ANY (ARRAY['creating'::text, 'warming'::text, 'ready'::text, 'resetting'::text, 'degraded'::text]));
CREATE INDEX sessions_ended ON public.sessions USING btree (((((replace(replace(resource, '\\'::text, ''::text), '\u'::text, 'u'::text))::json ->> 'updatedAtMs'::text))::bigint), project_id, session_id) WHERE (state = ANY (ARRAY['expired'::text, 'destroyed'::text]));
CREATE INDEX sessions_of_parent ON public.sessions USING btree (project_id, (((replace(replace(resource, '\\'::text, ''::text), '\u'::text, 'u'::text))::json ->> 'parentSessionId'::text)) COLLATE "C");
CREATE INDEX tokens_ended ON public.tokens USING btree (COALESCE(revoked_at_ms, expires_at_ms), token_id);
CREATE INDEX upload_pieces_by_blob ON public.upload_pieces USING btree (archive_digest);
ALTER TABLE ONLY public.authoring_sessions
    ADD CONSTRAINT authoring_sessions_organization_id_project_id_fkey FOREIGN KEY (organization_id, project_id) REFERENCES public.projects(organization_id, project_id);
ALTER TABLE ONLY public.authoring_turns
    ADD CONSTRAINT authoring_turns_project_id_authoring_session_id_fkey FOREIGN KEY (project_id, authoring_session_id) REFERENCES public.authoring_sessions(project_id, authoring_session_id);
ALTER TABLE ONLY public.build_attempts
    ADD CONSTRAINT build_attempts_organization_id_project_id_fkey FOREIGN KEY (organization_id, project_id) REFERENCES public.projects(organization_id, project_id);
ALTER TABLE ONLY public.builds
    ADD CONSTRAINT builds_organization_id_project_id_fkey FOREIGN KEY (organization_id, project_id) REFERENCES public.projects(organization_id, project_id);
ALTER TABLE ONLY public.bundles
    ADD CONSTRAINT bundles_organization_id_project_id_fkey FOREIGN KEY (organization_id, project_id) REFERENCES public.projects(organization_id, project_id);
ALTER TABLE ONLY public.environments
    ADD CONSTRAINT environments_organization_id_project_id_fkey FOREIGN KEY (organization_id, project_id) REFERENCES public.projects(organization_id, project_id);
ALTER TABLE ONLY public.export_parts
    ADD CONSTRAINT export_parts_organization_id_evidence_export_id_fkey FOREIGN KEY (organization_id, evidence_export_id) REFERENCES public.exports(organization_id, evidence_export_id);
ALTER TABLE ONLY public.export_parts
    ADD CONSTRAINT export_parts_project_id_evidence_bundle_id_fkey FOREIGN KEY (project_id, evidence_bundle_id) REFERENCES public.bundles(project_id, evidence_bundle_id);
ALTER TABLE ONLY public.export_reports
    ADD CONSTRAINT export_reports_organization_id_evidence_export_id_fkey FOREIGN KEY (organization_id, evidence_export_id) REFERENCES public.exports(organization_id, evidence_export_id);
ALTER TABLE ONLY public.export_reports
    ADD CONSTRAINT export_reports_project_id_local_report_id_fkey FOREIGN KEY (project_id, local_report_id) REFERENCES public.local_reports(project_id, local_report_id);
ALTER TABLE ONLY public.exports
    ADD CONSTRAINT exports_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(organization_id);
ALTER TABLE ONLY public.hosted_runs
    ADD CONSTRAINT hosted_runs_organization_id_project_id_fkey FOREIGN KEY (organization_id, project_id) REFERENCES public.projects(organization_id, project_id);
ALTER TABLE ONLY public.hosted_runs
    ADD CONSTRAINT hosted_runs_project_id_session_id_fkey FOREIGN KEY (project_id, session_id) REFERENCES public.sessions(project_id, session_id);
ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES public.operations(operation_id);
ALTER TABLE ONLY public.local_reports
    ADD CONSTRAINT local_reports_organization_id_project_id_fkey FOREIGN KEY (organization_id, project_id) REFERENCES public.projects(organization_id, project_id);
ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(organization_id);
ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_organization_id_project_id_fkey FOREIGN KEY (organization_id, project_id) REFERENCES public.projects(organization_id, project_id);
ALTER TABLE ONLY public.projects
    ADD CONSTRAINT projects_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(organization_id);
ALTER TABLE ONLY public.runner_logs
    ADD CONSTRAINT runner_logs_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES public.operations(operation_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_organization_id_project_id_fkey FOREIGN KEY (organization_id, project_id) REFERENCES public.projects(organization_id, project_id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_project_id_environment_id_fkey FOREIGN KEY (project_id, environment_id) REFERENCES public.environments(project_id, environment_id);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(organization_id);
