// libhdf5, opened when the first HDF5 file is: it brings thirty libraries that other commands need not load. Behind
// this header its functions and variables are found by name in the opened library.
#pragma once

#include <hdf5.h>
#include <hdf5_hl.h>

namespace sheaf {

/// A function or variable of the library. A library that is not there is an Error.
void* hdf5_symbol(const char* name);

template <class Function>
Function hdf5_function(const char* name) {
  return reinterpret_cast<Function>(hdf5_symbol(name));
}

}  // namespace sheaf

// NOLINTBEGIN(cppcoreguidelines-macro-usage): names of the library itself
#define SHEAF_HDF5_VARIABLE(name) (*static_cast<hid_t*>(sheaf::hdf5_symbol(name)))
#define H5check_version (*sheaf::hdf5_function<decltype(&::H5check_version)>("H5check_version"))
#define H5open (*sheaf::hdf5_function<decltype(&::H5open)>("H5open"))
#define H5Aclose (*sheaf::hdf5_function<decltype(&::H5Aclose)>("H5Aclose"))
#define H5Acreate_by_name (*sheaf::hdf5_function<decltype(&::H5Acreate_by_name)>("H5Acreate_by_name"))
#define H5Aexists_by_name (*sheaf::hdf5_function<decltype(&::H5Aexists_by_name)>("H5Aexists_by_name"))
#define H5Aget_space (*sheaf::hdf5_function<decltype(&::H5Aget_space)>("H5Aget_space"))
#define H5Aget_type (*sheaf::hdf5_function<decltype(&::H5Aget_type)>("H5Aget_type"))
#define H5Aopen_by_name (*sheaf::hdf5_function<decltype(&::H5Aopen_by_name)>("H5Aopen_by_name"))
#define H5Aread (*sheaf::hdf5_function<decltype(&::H5Aread)>("H5Aread"))
#define H5Awrite (*sheaf::hdf5_function<decltype(&::H5Awrite)>("H5Awrite"))
#define H5Dclose (*sheaf::hdf5_function<decltype(&::H5Dclose)>("H5Dclose"))
#define H5Dcreate2 (*sheaf::hdf5_function<decltype(&::H5Dcreate2)>("H5Dcreate2"))
#define H5Dget_space (*sheaf::hdf5_function<decltype(&::H5Dget_space)>("H5Dget_space"))
#define H5Dget_storage_size (*sheaf::hdf5_function<decltype(&::H5Dget_storage_size)>("H5Dget_storage_size"))
#define H5Dget_type (*sheaf::hdf5_function<decltype(&::H5Dget_type)>("H5Dget_type"))
#define H5Dopen2 (*sheaf::hdf5_function<decltype(&::H5Dopen2)>("H5Dopen2"))
#define H5Dread (*sheaf::hdf5_function<decltype(&::H5Dread)>("H5Dread"))
#define H5Dwrite (*sheaf::hdf5_function<decltype(&::H5Dwrite)>("H5Dwrite"))
#define H5Eset_auto2 (*sheaf::hdf5_function<decltype(&::H5Eset_auto2)>("H5Eset_auto2"))
#define H5Fclose (*sheaf::hdf5_function<decltype(&::H5Fclose)>("H5Fclose"))
#define H5Fcreate (*sheaf::hdf5_function<decltype(&::H5Fcreate)>("H5Fcreate"))
#define H5Fflush (*sheaf::hdf5_function<decltype(&::H5Fflush)>("H5Fflush"))
#define H5Gclose (*sheaf::hdf5_function<decltype(&::H5Gclose)>("H5Gclose"))
#define H5Gcreate2 (*sheaf::hdf5_function<decltype(&::H5Gcreate2)>("H5Gcreate2"))
#define H5Gget_info (*sheaf::hdf5_function<decltype(&::H5Gget_info)>("H5Gget_info"))
#define H5Gopen2 (*sheaf::hdf5_function<decltype(&::H5Gopen2)>("H5Gopen2"))
#define H5Iget_type (*sheaf::hdf5_function<decltype(&::H5Iget_type)>("H5Iget_type"))
#define H5LTopen_file_image (*sheaf::hdf5_function<decltype(&::H5LTopen_file_image)>("H5LTopen_file_image"))
#define H5Lexists (*sheaf::hdf5_function<decltype(&::H5Lexists)>("H5Lexists"))
#define H5Lget_name_by_idx (*sheaf::hdf5_function<decltype(&::H5Lget_name_by_idx)>("H5Lget_name_by_idx"))
#define H5Oclose (*sheaf::hdf5_function<decltype(&::H5Oclose)>("H5Oclose"))
#define H5Oexists_by_name (*sheaf::hdf5_function<decltype(&::H5Oexists_by_name)>("H5Oexists_by_name"))
#define H5Oopen (*sheaf::hdf5_function<decltype(&::H5Oopen)>("H5Oopen"))
#define H5Pclose (*sheaf::hdf5_function<decltype(&::H5Pclose)>("H5Pclose"))
#define H5Pcreate (*sheaf::hdf5_function<decltype(&::H5Pcreate)>("H5Pcreate"))
#define H5Pset_obj_track_times (*sheaf::hdf5_function<decltype(&::H5Pset_obj_track_times)>("H5Pset_obj_track_times"))
#define H5Sclose (*sheaf::hdf5_function<decltype(&::H5Sclose)>("H5Sclose"))
#define H5Screate (*sheaf::hdf5_function<decltype(&::H5Screate)>("H5Screate"))
#define H5Screate_simple (*sheaf::hdf5_function<decltype(&::H5Screate_simple)>("H5Screate_simple"))
#define H5Sselect_hyperslab (*sheaf::hdf5_function<decltype(&::H5Sselect_hyperslab)>("H5Sselect_hyperslab"))
#define H5Sget_simple_extent_dims \
  (*sheaf::hdf5_function<decltype(&::H5Sget_simple_extent_dims)>("H5Sget_simple_extent_dims"))
#define H5Sget_simple_extent_ndims \
  (*sheaf::hdf5_function<decltype(&::H5Sget_simple_extent_ndims)>("H5Sget_simple_extent_ndims"))
#define H5Sget_simple_extent_npoints \
  (*sheaf::hdf5_function<decltype(&::H5Sget_simple_extent_npoints)>("H5Sget_simple_extent_npoints"))
#define H5Tclose (*sheaf::hdf5_function<decltype(&::H5Tclose)>("H5Tclose"))
#define H5Tcopy (*sheaf::hdf5_function<decltype(&::H5Tcopy)>("H5Tcopy"))
#define H5Tcreate (*sheaf::hdf5_function<decltype(&::H5Tcreate)>("H5Tcreate"))
#define H5Tenum_create (*sheaf::hdf5_function<decltype(&::H5Tenum_create)>("H5Tenum_create"))
#define H5Tenum_insert (*sheaf::hdf5_function<decltype(&::H5Tenum_insert)>("H5Tenum_insert"))
#define H5Tget_class (*sheaf::hdf5_function<decltype(&::H5Tget_class)>("H5Tget_class"))
#define H5Tget_member_index (*sheaf::hdf5_function<decltype(&::H5Tget_member_index)>("H5Tget_member_index"))
#define H5Tget_size (*sheaf::hdf5_function<decltype(&::H5Tget_size)>("H5Tget_size"))
#define H5Tinsert (*sheaf::hdf5_function<decltype(&::H5Tinsert)>("H5Tinsert"))
#define H5Tis_variable_str (*sheaf::hdf5_function<decltype(&::H5Tis_variable_str)>("H5Tis_variable_str"))
#define H5Tregister (*sheaf::hdf5_function<decltype(&::H5Tregister)>("H5Tregister"))
#define H5Tset_cset (*sheaf::hdf5_function<decltype(&::H5Tset_cset)>("H5Tset_cset"))
#define H5Tset_size (*sheaf::hdf5_function<decltype(&::H5Tset_size)>("H5Tset_size"))
#define H5T_NATIVE_FLOAT_g SHEAF_HDF5_VARIABLE("H5T_NATIVE_FLOAT_g")
#define H5T_NATIVE_DOUBLE_g SHEAF_HDF5_VARIABLE("H5T_NATIVE_DOUBLE_g")
#define H5T_NATIVE_INT8_g SHEAF_HDF5_VARIABLE("H5T_NATIVE_INT8_g")
#define H5T_NATIVE_INT32_g SHEAF_HDF5_VARIABLE("H5T_NATIVE_INT32_g")
#define H5T_NATIVE_INT64_g SHEAF_HDF5_VARIABLE("H5T_NATIVE_INT64_g")
#define H5T_C_S1_g SHEAF_HDF5_VARIABLE("H5T_C_S1_g")
#define H5T_STD_U32LE_g SHEAF_HDF5_VARIABLE("H5T_STD_U32LE_g")
#define H5T_STD_U64LE_g SHEAF_HDF5_VARIABLE("H5T_STD_U64LE_g")
#define H5P_CLS_DATASET_CREATE_ID_g SHEAF_HDF5_VARIABLE("H5P_CLS_DATASET_CREATE_ID_g")
// NOLINTEND(cppcoreguidelines-macro-usage)
