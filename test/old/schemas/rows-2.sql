UPDATE organizations SET max_stored_bytes = 1000000000, max_operations = 100, max_uploads = 10
  WHERE organization_id = 'org_000000000001';
UPDATE tokens SET name = 'ci', last_used_at_ms = 1795262400000 WHERE revoked_at_ms IS NULL;
UPDATE build_attempts SET expected_bytes = 1000;
UPDATE jobs SET traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' WHERE kind = 'run.rerun';
