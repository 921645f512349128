"""The binary framings of XiaoZhi devices; nothing to cimport, the module is Python functions."""
